"""Hypothesis profiles, and the order of tests that run beside each other.

`pytest --hypothesis-profile=nightly`, or HYPOTHESIS_PROFILE=nightly, tries far more; `check`, that of `make check`,
two in five.
"""

import os
import shutil
import tempfile
from collections.abc import Generator

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import Scheduling

from pileup.model.collecting import uncollected
from pileup.model.surroundings import introduce
from tests.sharing import Sharing, place

settings.register_profile("nightly", max_examples=10_000, deadline=None)
settings.register_profile("check", max_examples=40)
if "HYPOTHESIS_PROFILE" in os.environ:
    settings.load_profile(os.environ["HYPOTHESIS_PROFILE"])


def pytest_configure(config: pytest.Config) -> None:
    """Give the tests a registry of runs of their own: they crash runs, and look at what is left."""
    state = tempfile.mkdtemp(prefix="pileup-tests-state-")
    os.environ["XDG_STATE_HOME"] = state
    introduce(os.environ, os.geteuid())
    config.add_cleanup(lambda: shutil.rmtree(state, ignore_errors=True))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect thousands of tests without looking for garbage among them."""
    with uncollected():
        return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the long ones first where there are workers (`-n`); alone, tests keep the order of the tree."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Share tests out as `sharing.py` says, where `--dist loadgroup` asks for groups: nothing else here uses them."""
    return Sharing(config, log) if config.getoption("dist") == "loadgroup" else None
