"""A small data set of each kind, generated once."""

from importlib.util import find_spec

import pytest

from pileup.builtin.posix.target import PosixTarget
from pileup.plugin import Context
from pileup.plugin.testing import run_once
from tests.support import give_up

if find_spec("uproot") is None:
    give_up("uproot is not installed: pip install 'pileup[analysis]'")

from pileup.builtin.analysis.generate import AnalysisGenerate


def context(folder, **more):
    folder.mkdir(exist_ok=True)
    return Context(seed=7, folder=folder, **more)


def generate(root, *, files=2, **options):
    """Generate files of 50 events in clusters of 20, and return what each iteration gave."""
    root.mkdir(exist_ok=True)
    wanted = {"folder": "set", "events": 50, "cluster": 20, "codec": "lz4", **options}
    target = PosixTarget(str(root))
    place = context(root / "suite")
    return [run_once(AnalysisGenerate, target, context=place, number=number, **wanted) for number in range(files)]


@pytest.fixture(scope="session", params=["ttree", "rntuple"])
def made(request, tmp_path_factory):
    """A folder with a data set; read-only."""
    root = tmp_path_factory.mktemp(request.param)
    for done in generate(root, storage=request.param):
        assert done.passed, done.error
    return root
