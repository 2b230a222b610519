"""A mistake in `teardown` is seen: it is an event of the run, told once for all clients of a case."""

from pathlib import Path

import pytest

from pileup.record import RunFolder
from pileup.run import Runner
from pileup.suite import load

LEAVING = """
from pileup.plugin import Test


class Leaving(Test):
    def run(self, op):
        pass

    def teardown(self):
        raise RuntimeError("cannot hang up")


class Later(Leaving):
    async def run(self, op):
        pass
"""
SUITE = """
pileup: 1
title: t
places: PLACES
tests:
  - {name: a, use: "./t.py:Leaving", load: {times: 2, clients: 2}}
  - {name: b, use: "./t.py:Later", load: {times: 1}}
reports: []
"""


@pytest.mark.parametrize("places", ["local", "processes:1"])
def test_a_mistake_in_teardown_is_an_event(tmp_path: Path, places: str) -> None:
    (tmp_path / "t.py").write_text(LEAVING)
    (tmp_path / "s.yaml").write_text(SUITE.replace("PLACES", places))
    runner = Runner(load(tmp_path / "s.yaml"), tmp_path)
    assert [case.outcome for case in runner.run().cases] == ["passed", "passed"]
    told = sorted(each.text for each in RunFolder.open(runner.folder.path).events() if each.kind == "test")
    assert told == [f"{name}: teardown failed: RuntimeError: cannot hang up (t.py:10)" for name in "ab"]
