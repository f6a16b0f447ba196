"""A folder for each chapter, named like its topic.

In each, `setup` says what the experiment is, `checks` what is tried on data, `tables` and `figures`
what is shown, `plots` draws, `exercises` checks answers; other modules hold what the chapter alone
computes. A chapter registers its makers when it is imported, and names ``CHAPTER`` and
``FUNCTIONS``, by which `recbias.claims.topics` finds it.
"""
