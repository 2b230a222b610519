"""Hypothesis profiles: `pytest --hypothesis-profile=nightly`, or HYPOTHESIS_PROFILE=nightly, tries far more."""

import os

from hypothesis import settings

settings.register_profile("nightly", max_examples=10_000, deadline=None)
if "HYPOTHESIS_PROFILE" in os.environ:
    settings.load_profile(os.environ["HYPOTHESIS_PROFILE"])
