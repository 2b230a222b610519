"""Tests that need several targets: what a suite gives them, by the words of the test."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.model.plan import Plan
from pileup.plugin import Destination, Keys
from pileup.suite import instances

MOVE = """
from pileup.plugin import Destination, Keys, Program, Step, Test


class Move(Test):
    \"\"\"Copy what a storage holds to another.\"\"\"

    needs = {"source": "files", "to": "files"}

    def run(self, op):
        pass


class Native(Move):
    def program(self):
        to = Destination("to", Keys.fixed(self.context.owns["to"] + "/a"))
        return Program((Step("copy", "copy", Keys.fixed("a"), destination=to),))
"""
SUITE = """pileup: 1
title: t
targets: {near: {kind: posix, url: /near}, far: {kind: posix, url: /far}, web: {kind: http, url: "http://127.0.0.1:1"}}
tests:
  - {name: move, use: "./move.py:Move", target: {to: far, source: near}}
"""
GIVEN = "{to: far, source: near}"


@pytest.fixture(autouse=True)
def _move(tmp_path: Path) -> None:
    (tmp_path / "move.py").write_text(MOVE)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("near", "test './move.py:Move' needs 2 targets, one is given; expected `target: {source: NAME, to: NAME}`"),
        ("{source: near}", "`target` has no 'to'; expected `target: {source: NAME, to: NAME}`"),
        ("{source: near, dest: far, to: far}", "test './move.py:Move' needs no target 'dest'"),
        ("{source: near, to: fra}", "there is no target 'fra'; expected 'far'"),
        ("{source: near, to: web}", "needs 'files', 'web' of kind 'http' does not have it; expected 'near' or 'far'"),
        ("[near, far]", "`target`: a list; expected the name of a target, or {WORD: TARGET, ...}"),
        ("{source: [near], to: far}", "`target`: 'source' names no target; expected the name of a target"),
    ],
)
def test_what_does_not_fit_is_told_where_it_stands(faults: Callable[..., list[str]], value: str, told: str) -> None:
    (fault,) = faults(SUITE.replace(GIVEN, value))
    assert told in fault
    assert fault.startswith("5:")


def test_a_suite_that_names_none_is_told_how(faults: Callable[..., list[str]]) -> None:
    (fault,) = faults(SUITE.replace(f", target: {GIVEN}", ""))
    assert "test 'move' names no targets; expected `target: {source: NAME, to: NAME}`" in fault


def test_a_test_that_needs_one_is_not_given_two(faults: Callable[..., list[str]]) -> None:
    (fault,) = faults(SUITE.replace("./move.py:Move", "storage.write"))
    assert "test 'storage.write' needs one target, 2 are given; expected its name" in fault


def test_the_first_of_its_class_is_what_it_is_about(plan: Callable[..., Plan]) -> None:
    (case,) = plan(SUITE).cases
    assert (case.test.target, list(case.test.targets)) == ("near", ["source", "to"])
    assert case.test.aim == "source: near, to: far"


def test_a_scan_and_a_value_that_is_set_change_them(plan: Callable[..., Plan]) -> None:
    scan = "{move.target: [{source: near, to: far}, {to: near, source: far}]}"
    cases = plan(SUITE, {"scan": scan}).cases
    assert [case.test.target for case in cases] == ["near", "far"]
    (case,) = plan(SUITE, {"tests.move.target.to": "near"}).cases
    assert case.test.targets == {"source": "near", "to": "near"}


def test_what_a_scan_names_is_checked(faults: Callable[..., list[str]]) -> None:
    scan = "{move.target: [{source: near, to: fra}, {source: near, to: web}, {source: near}, near]}"
    told = faults(SUITE, {"scan": scan})
    for part in ("no target 'fra'", "'web' of kind 'http'", "`target` has no 'to'", "needs 2 targets, one is given"):
        assert any(part in each for each in told), (part, told)


def test_one_target_may_be_both(plan: Callable[..., Plan]) -> None:
    (case,) = plan(SUITE.replace(GIVEN, "{to: near, source: near}")).cases
    assert case.test.aims == ("near",)


def test_the_engine_is_asked_whether_it_can_send(faults: Callable[..., list[str]]) -> None:
    (fault,) = faults(SUITE.replace("Move", "Native"))
    assert "test 'move' on target 'near': the engine has no copy" in fault


def test_a_native_test_sends_to_a_word_of_its_needs(plan: Callable[..., Plan]) -> None:
    made = plan(SUITE)
    (case,) = made.cases
    case = replace(case, test=case.test.model_copy(update={"use": "./move.py:Native"}))
    (step,) = instances.program_of(instances.make_test(made, case, lambda name: None, 0), case.test).steps
    assert step.destination == Destination("far", Keys.fixed("/a"))


def test_xml_says_the_same(plan: Callable[..., Plan], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan(SUITE)
    assert main(["convert", str(tmp_path / "suite.yaml"), "--to", "xml"]) == 0
    (tmp_path / "suite.xml").write_text(capsys.readouterr().out)
    assert main(["plan", str(tmp_path / "suite.xml"), "--json"]) == 0
    (planned,) = json.loads(capsys.readouterr().out)["cases"]
    assert planned["targets"] == {"source": "near", "to": "far"}
    assert main(["plan", str(tmp_path / "suite.xml")]) == 0
    assert "source: near, to: far" in capsys.readouterr().out


def test_its_page_tells_what_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["describe", f"{tmp_path}/move.py:Move"]) == 0
    assert "`source`, a target that provides 'files'; `to`, a target that provides 'files'" in capsys.readouterr().out
