"""The guide: what to do in an offline experiment, and what to write.

Rules, what they stand on and how often that held (`rules`); questions that lead to a protocol, and
the paragraph for a methods section, as :mod:`recbias.experiment.decisions` writes it (`questions`).
"""
