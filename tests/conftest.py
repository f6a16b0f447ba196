"""Shared fixtures and the Hypothesis profile of the suite."""

import hypothesis

hypothesis.settings.register_profile("recbias", derandomize=True, deadline=None)
hypothesis.settings.register_profile("prove", max_examples=2000, deadline=None)
hypothesis.settings.load_profile("recbias")
