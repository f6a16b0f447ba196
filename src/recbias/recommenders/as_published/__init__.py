"""What published figures were made with, where it is not the model that they name."""
