"""A target without `client`: the engine has no client for it, so native tests are refused before anything is begun."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.plan import Plan

KINDS = """
from pileup.plugin import ClientSpec, ProgramClient, Target, Test


class Own(Target):
    provides = frozenset({"any"})


class Other(Own):
    def program_client(self):
        return lambda number: ProgramClient()


class Engine(Own):
    def client(self):
        return ClientSpec("noop")


class Look(Test):
    needs = "any"

    def run(self, op):
        pass
"""
SUITE = """
pileup: 1
title: t
targets: {own: {kind: "./kinds.py:%s", url: "own://host:1"}}
tests:
  - {name: python, use: "./kinds.py:Look", target: own}
  - {name: native, use: noop, target: own}
"""


@pytest.fixture
def _kinds(tmp_path: Path) -> None:
    (tmp_path / "kinds.py").write_text(KINDS)


@pytest.mark.usefixtures("_kinds")
def test_a_native_test_on_it_is_refused_and_a_python_test_is_not(faults: Callable[..., list[str]]) -> None:
    assert [fault.partition(": ")[2] for fault in faults(SUITE % "Own")] == [
        "test 'native' on target 'own': this target has no client of the engine; "
        "expected a Python test, or a ProgramClient"
    ]


@pytest.mark.usefixtures("_kinds")
def test_a_test_that_needs_no_target_is_not_pressed_on_the_only_one(plan: Callable[..., Plan]) -> None:
    (case, _) = plan((SUITE % "Own").replace("noop, target: own", "noop")).cases[::-1]
    assert (case.name, case.test.target) == ("native", None)


@pytest.mark.usefixtures("_kinds")
@pytest.mark.parametrize("kind", ["Other", "Engine"])
def test_what_has_a_client_takes_both(plan: Callable[..., Plan], kind: str) -> None:
    assert [case.name for case in plan(SUITE % kind).cases] == ["python", "native"]


@pytest.mark.usefixtures("_kinds")
def test_each_target_of_a_scan_is_asked(faults: Callable[..., list[str]]) -> None:
    text = (SUITE % "Engine").replace("noop, target: own", "noop").replace(
        "targets: {", 'targets: {none: {kind: "./kinds.py:Own", url: "own://host:2"}, '
    ) + "scan: {native.target: [own, none]}\n"
    (fault,) = faults(text)
    assert "test 'native' on target 'none': this target has no client of the engine" in fault
