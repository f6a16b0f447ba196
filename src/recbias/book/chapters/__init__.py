"""A folder for each chapter, named like its topic.

In each, `setup` says what the experiment is, `plots` draws, `exercises` checks answers; where there
are such, `checks` says what is tried on data, `tables` and `figures` what is shown. Other modules
hold what the chapter alone computes. A chapter registers its makers when it is imported, and names
``CHAPTER`` and ``FUNCTIONS``, by which `recbias.claims.topics` finds it.
"""
