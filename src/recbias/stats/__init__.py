"""Statistics that know users and systems, and nothing of ratings.

`resampling` draws users, `comparison` tests pairs of systems, `agreement` compares orders of
systems, `risk` losses against a baseline. It imports `recbias.errors` alone. Begin with
`comparison`.
"""
