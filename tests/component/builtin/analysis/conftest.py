"""What the tests of engines share: ROOT, started once for all of them."""

from importlib.util import find_spec

import pytest

from pileup.builtin.analysis.root.process import RootProcess
from tests.support import give_up


@pytest.fixture(scope="session")
def root():
    """A process of ROOT: it takes seconds to start, so tests share it."""
    if find_spec("ROOT") is None:
        give_up("ROOT is not installed: pip install 'pileup[root]'")
    process = RootProcess("", {})
    yield process
    process.close()
