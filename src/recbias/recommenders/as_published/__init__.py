"""What produced published figures where that was not the cited model, each named after what it did.

These classes are registered, so that a `recbias.recommenders.System` can name them, but they are
not exported: only line-ups that reproduce a publication use them. The docstring of each says what
it does, where the cited model is, and what tells the two apart.
"""
