"""Targets that have a server only with some settings: a plan for real says so, one for virtual time needs none."""

from pathlib import Path

import pytest

from pileup.model.errors import Problem, SuiteError
from pileup.model.problem_codes import ProblemCode
from pileup.suite import load

SUITE = """pileup: 1
title: Tape
targets: {{tape: {{kind: practice-tape, launch: {launch}}}}}
{scan}
tests: [{{name: project, use: tape.project}}]
"""


def problems_of(folder: Path, launch: str, scan: str = "") -> tuple[Problem, ...]:
    path = folder / "tape.yaml"
    path.write_text(SUITE.format(launch=launch, scan=scan))
    assert load(path, servers=False).cases, "in virtual time"
    try:
        load(path)
    except SuiteError as problem:
        return problem.problems
    return ()


@pytest.mark.parametrize(
    ("launch", "scan", "line", "words"),
    [
        ("{drives: 2, cache: central}", "", 3, "'cache'"),
        ("{drives: 2}", "scan: {tape.cache: [none, node]}", 4, "'cache'"),
        ("{drives: 2, warm: 10 %}", "scan: {tape.drives: [1, 2]}", 3, "'warm'"),
        (
            "{drives: 2}",
            "scan: {together: [{tape.cache: none, tape.cache_size: 1 GB}, {tape.cache: node, tape.cache_size: 2 GB}]}",
            4,
            "'cache', 'cache_size'",
        ),
    ],
)
def test_settings_of_a_machine_alone_are_refused_by_name(
    launch: str, scan: str, line: int, words: str, tmp_path: Path
) -> None:
    (found,) = problems_of(tmp_path, launch, scan)
    assert found.code is ProblemCode.ONLY_SIMULATED
    assert found.place is not None
    assert found.place.line == line
    assert found.what == f"target 'tape' cannot be started: no server of kind 'practice-tape' has {words}"
    assert "`pileup simulate`" in found.hint


@pytest.mark.parametrize("scan", ["", "scan: {tape.drives: [1, 2]}"])
def test_a_server_with_settings_that_it_knows_is_planned(scan: str, tmp_path: Path) -> None:
    assert problems_of(tmp_path, "{drives: 2}", scan) == ()


MACHINE = """
from pileup.plugin import Target, Test

class Counter(Target):
    kind = "counter"

    def simulated(self, settings, time):
        return self

class Count(Test):
    needs = "any"

    async def run(self, op):
        pass
"""


def test_a_kind_that_is_a_machine_alone_is_refused_for_real(tmp_path: Path) -> None:
    (tmp_path / "counter.py").write_text(MACHINE)
    path = tmp_path / "count.yaml"
    path.write_text(
        "pileup: 1\ntitle: Count\ntargets: {c: {kind: ./counter.py:Counter, launch: {}}}\n"
        "tests: [{name: count, use: ./counter.py:Count}]\n"
    )
    assert load(path, servers=False).cases
    with pytest.raises(SuiteError, match="cannot be started: no server of kind"):
        load(path)
