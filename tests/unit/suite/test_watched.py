"""Monitors that watch a target of the suite."""

from pathlib import Path

import pytest

from pileup.model.errors import SuiteError
from pileup.suite import load

SUITE = """
pileup: 1
title: t
targets: {se: {kind: xrootd, url: "root://127.0.0.1//"}}
tests: [{name: look, use: storage.list}]
monitors: [{use: xrootd, MONITOR}]
"""


def faults(folder: Path, monitor: str) -> list[str]:
    (folder / "s.yaml").write_text(SUITE.replace("MONITOR", monitor))
    try:
        load(folder / "s.yaml")
    except SuiteError as problem:
        return [str(fault).partition("s.yaml:")[2] for fault in problem.faults]
    return []


@pytest.mark.parametrize(
    ("monitor", "told"),
    [
        ("target: sé", "6:34: there is no target 'sé'; expected one of se"),
        ("target: se, host: 'ssh://root@se01'", "6:34: a monitor with `target` and `host`; expected a `url`"),
        ("every: 1 s", "one server is watched; expected `target` or `url`"),
    ],
)
def test_what_is_watched_must_be_there(tmp_path: Path, monitor: str, told: str) -> None:
    (fault,) = faults(tmp_path, monitor)
    assert told in fault


def test_a_target_of_the_suite_can_be_watched(tmp_path: Path) -> None:
    assert faults(tmp_path, "target: se") == []
