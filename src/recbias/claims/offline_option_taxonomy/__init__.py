"""Chapter 7, "The taxonomy of offline options": CCM20."""

from recbias.claims.offline_option_taxonomy.setup import CHAPTER

FUNCTIONS: dict[str, object] = {}
__all__ = ["CHAPTER"]
