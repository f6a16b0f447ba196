"""Marks within the numbers of a table."""

from typing import Literal

Thousands = Literal[",", ".", " ", "'"]
THOUSANDS: dict[Thousands, str] = {",": ",", ".": ".", " ": "blank", "'": "quote"}
"""What may separate thousands, and how it is typed."""
