"""Biases in offline recommender evaluation, measured."""
