"""The reason of a failed case: of many messages the one that most of what did not pass has."""

from pathlib import Path

from pileup.run import Runner
from pileup.suite import load

MIXED = """
from pileup.plugin import Failed, Test


class Mixed(Test):
    def run(self, op):
        with op("ask"):
            pass
        with op("read"):
            raise Failed("store is full" if op.number in (0, 7) else "wrong answer")
"""
SUITE = """
pileup: 1
title: t
tests: [{name: a, use: "./t.py:Mixed", load: {times: 12}}]
reports: []
"""


def test_the_reason_of_a_failed_case_is_its_most_frequent_message(tmp_path: Path) -> None:
    """It was the message that came first, be it that of 2 iterations of 8123."""
    (tmp_path / "t.py").write_text(MIXED)
    (tmp_path / "s.yaml").write_text(SUITE)
    (case,) = Runner(load(tmp_path / "s.yaml"), tmp_path).run().cases
    assert case.reason == "12 of 12 iterations did not pass (12 failed): wrong answer"
