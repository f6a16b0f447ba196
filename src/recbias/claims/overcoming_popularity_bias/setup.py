"""What chapter 4 is called, and which protocols and metrics it shares.

The grids themselves stand in the chapter, where a reader sees them.
"""

from __future__ import annotations

__all__ = ["CHAPTER"]

CHAPTER = "04_overcoming_popularity_bias"
"""Name of the notebook, and of the folder of its results."""
