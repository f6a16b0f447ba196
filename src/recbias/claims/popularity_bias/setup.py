"""What chapter 3 is called: the name under which its results are stored."""

from __future__ import annotations

__all__ = ["CHAPTER"]

CHAPTER = "03_popularity_bias"
"""Name of the notebook, and of the folder of its results."""
