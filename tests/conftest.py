"""Hypothesis profiles, and the order of tests that run beside each other.

`pytest --hypothesis-profile=nightly`, or HYPOTHESIS_PROFILE=nightly, tries far more.
"""

import os
import shutil
import tempfile

import pytest
from hypothesis import settings

from pileup.model.surroundings import introduce

LONG = ("tests/e2e/", "tests/zoo/", "tests/contract/", "tests/browser/", "tests/repo/")
"""Folders of tests that take long: workers begin with them, so that none is left alone with one at the end."""

settings.register_profile("nightly", max_examples=10_000, deadline=None)
if "HYPOTHESIS_PROFILE" in os.environ:
    settings.load_profile(os.environ["HYPOTHESIS_PROFILE"])


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a registry of runs of their own: they crash runs, and look at what is left."""
    state = tempfile.mkdtemp(prefix="pileup-tests-state-")
    os.environ["XDG_STATE_HOME"] = state
    introduce(os.environ, os.geteuid())
    config.add_cleanup(lambda: shutil.rmtree(state, ignore_errors=True))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the long ones first where there are workers (`-n`); alone, tests keep the order of the tree."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: not item.nodeid.startswith(LONG))
