"""What is written of the cases while a run goes on."""

from pathlib import Path

import pytest

from pileup.model.plan import Plan
from pileup.record import RunFolder
from pileup.run.manifest import ManifestWriter
from pileup.run.manifest_start import first_manifest
from pileup.suite import load

SUITE = """
pileup: 1
title: notes
repeat: 3
tests: [{name: a, use: noop}, {name: b, use: noop}]
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "suite.yaml").write_text(SUITE)
    return load(tmp_path / "suite.yaml")


@pytest.fixture
def book(plan: Plan, tmp_path: Path) -> ManifestWriter:
    return ManifestWriter(RunFolder.create(tmp_path / "runs", "notes", 1), first_manifest(plan, 1))


def test_the_pacing_of_a_load_is_written(tmp_path: Path) -> None:
    loads = {"a": "rate: 5 /s, for: 1 s, pacing: coarse", "b": "rate: 5 /s, for: 1 s", "c": "once: true"}
    tests = ", ".join(f"{{name: {name}, use: noop, load: {{{words}}}}}" for name, words in loads.items())
    (tmp_path / "suite.yaml").write_text(f"{{pileup: 1, title: paces, tests: [{tests}]}}")
    entries = first_manifest(load(tmp_path / "suite.yaml"), 1).cases
    assert [entry.pacing for entry in entries] == ["coarse", "normal", "normal"]


def test_a_remark_is_told_once_for_each_test_and_a_note_each_time(plan: Plan, book: ManifestWriter) -> None:
    for case in plan.cases:
        book.begin(case)
        book.remark(case, "it fits")
        book.note(case, "as it went")
    book.remark(plan.cases[-1], "another")
    told = {(case.test.name, case.repeat): list(book.case(case).notes) for case in plan.cases}
    assert told["a", 1] == told["b", 1] == ["it fits", "as it went"]
    assert told["a", 2] == ["as it went"]
    assert ["another"] in [notes[-1:] for notes in told.values()]
    assert sum(notes.count("it fits") for notes in told.values()) == 2


def test_what_is_done_again_is_told_again(plan: Plan, book: ManifestWriter) -> None:
    first = plan.cases[0]
    for _ in range(2):
        book.begin(first)
        book.remark(first, "it fits")
    assert book.case(first).notes == ("it fits",)
