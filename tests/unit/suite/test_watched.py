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


def faults(folder: Path, monitor: str, suite: str = SUITE) -> list[str]:
    (folder / "s.yaml").write_text(suite.replace("MONITOR", monitor))
    try:
        load(folder / "s.yaml")
    except SuiteError as problem:
        return [str(fault).partition("s.yaml:")[2] for fault in problem.problems]
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


def test_t19_whose_host_a_monitor_is_about_must_be_a_target(tmp_path: Path) -> None:
    assert faults(tmp_path, "target: se, watches: se") == []
    (fault,) = faults(tmp_path, "target: se, watches: so")
    assert "there is no target 'so'; expected one of se" in fault


def test_a_target_of_the_suite_can_be_watched(tmp_path: Path) -> None:
    assert faults(tmp_path, "target: se") == []


LAUNCHED = """
pileup: 1
title: t
targets: {se: {kind: xrootd, launch: {}}, far: {kind: xrootd, url: "root://127.0.0.1//"}}
tests: [{name: look, use: storage.list, target: se}]
monitors: [{use: process, MONITOR}]
"""


@pytest.mark.parametrize("target", ["se", "se.xrootd"])
def test_daemons_of_a_launched_target_can_be_watched(tmp_path: Path, target: str) -> None:
    assert faults(tmp_path, f"target: {target}", LAUNCHED) == []


@pytest.mark.parametrize(
    ("monitor", "told"),
    [
        ("target: see.xrootd", "6:35: there is no target 'see'; expected 'se'"),
        ("target: se.xrotd", "6:35: the server of target 'se' has no process 'xrotd'; expected 'xrootd'"),
        ("target: se, host: 'ssh://root@se01'", "6:35: a monitor with `target` and `host`; expected `match`"),
        ("target: far, host: 'ssh://root@se01'", "6:35: a monitor with `target` and `host`; expected `match`"),
        ("every: 1 s", "no process is chosen; expected match, program, pid or target"),
    ],
)
def test_daemons_that_are_watched_must_be_there(tmp_path: Path, monitor: str, told: str) -> None:
    (fault,) = faults(tmp_path, monitor, LAUNCHED)
    assert told in fault


def test_what_pileup_takes_itself_can_be_checked(tmp_path: Path) -> None:
    check = "criteria: [{id: C, says: It is cheap, check: mean(pileup.total_cpu) < 5 %}]\n"
    assert faults(tmp_path, "target: se", SUITE + check) == []
    (fault,) = faults(tmp_path, "target: se", SUITE + check.replace("pileup.", "pilup."))
    assert "there is no test or monitor 'pilup'; expected pileup" in fault


def test_no_monitor_is_called_as_pileup_itself(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, "target: se, name: pileup")
    assert "'pileup' is what pileup's samples of itself are called; expected another name" in fault
