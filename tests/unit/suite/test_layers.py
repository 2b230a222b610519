"""The word `layers`: which tests it reaches, and what it does not go with."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.errors import SuiteError
from pileup.model.plan import Plan
from pileup.suite import load

SUITE = """
pileup: 1
title: layers
layers: session
targets: {disk: {kind: posix}}
tests:
  - {name: fill, use: storage.write, options: {files: 4}, load: {clients: 2, times: 4}}
  - {name: read, use: storage.read, after: [fill], options: {files: 4}, load: {clients: 2, for: 1 s}}
  - {name: open, use: storage.read, options: {files: 4, layers: control}, load: {rate: 5, for: 1 s}}
  - {name: rest, use: noop, load: {clients: 1, for: 1 s}}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Callable[..., Plan]:
    def make(text: str, **values: str) -> Plan:
        (tmp_path / "suite.yaml").write_text(text)
        return load(tmp_path / "suite.yaml", values)

    return make


def layers(plan: Plan) -> dict[str, object]:
    return {case.name: case.test.options.get("layers") for case in plan.cases}


def test_tests_that_press_and_do_not_say_themselves_have_it(plan: Callable[..., Plan]) -> None:
    whole = {"fill": None, "open": "control", "rest": None}
    assert layers(plan(SUITE)) == {**whole, "read": "session"}
    assert layers(plan(SUITE, layers="noop")) == {**whole, "read": "noop"}
    assert layers(plan(SUITE.replace("layers: session\n", ""))) == {**whole, "read": None}
    assert next(case for case in plan(SUITE).cases if case.name == "read").test.options["files"] == "4"


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("layers: session", "layers: wire", "4:9: `layers` is 'wire'"),
        (
            "targets:",
            "options: {layers: data}\ntargets:",
            "4:9: `layers` is combined with 'options.layers'; expected",
        ),
        (
            "targets:",
            "scan: {read.layers: [all]}\ntargets:",
            "4:9: `layers` is combined with 'read.layers'; expected",
        ),
        ("for: 1 s", "times: 3", "4:9: no test with a sustained load has an option 'layers' that it does not set"),
        ("storage.read, after", "storage.stat, after", ""),
        ("layers: session", "layers: data", ""),
    ],
)
def test_what_it_does_not_go_with(plan: Callable[..., Plan], before: str, after: str, fault: str) -> None:
    text = SUITE.replace(before, after)
    if not fault:
        assert layers(plan(text))["read"] in ("session", "data")
        return
    with pytest.raises(SuiteError) as problem:
        plan(text)
    assert fault in str(problem.value)


def test_a_layer_that_a_test_has_not_is_refused(plan: Callable[..., Plan]) -> None:
    text = SUITE.replace("layers: session", "layers: data").replace("storage.read, after", "storage.stat, after")
    with pytest.raises(SuiteError, match="layer data of a test that moves no bytes"):
        plan(text)
