"""What programs need of a machine: places, caches, processes, random streams.

Nothing here knows of recommenders. It imports `recbias.errors` alone. Begin with `places`, which
says where data, cells and results lie; `streams` gives every draw its own random numbers.
"""
