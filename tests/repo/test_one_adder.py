"""Frames are added up in one place, so that all figures of them agree; the outcomes are listed in one place."""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from pileup.model.record import Outcome

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "pileup"
ADDER = {
    "record/tally.py": "the sums themselves",
    "stats/frames/totals.py": "sums by phase",
}
OTHERS = {
    "fleet/loss.py": "makes histograms of the table of a lost place, which no frame has told",
    "fleet/wire.py": "sends each row by itself",
    "record/frames.py": "writes each row by itself",
    "run/simulation/load.py": "makes the frames of a simulation, which no engine counts",
    "run/simulation/rows.py": "counts the rows of a simulation, which no engine counts",
    "stats/frames/detached.py": "looks for the names of operations",
    "stats/frames/labels.py": "chooses rows by their labels",
    "stats/frames/recorded.py": "makes histograms of what monitors recorded, which has no frames of its own",
    "stats/record_tables.py": "writes each row by itself",
    "stats/loads/trial.py": "says of which phase the rows of a trial are",
}
"""Modules that go through the rows of frames, or make histograms, for something else."""
LIST = "model/record.py"


def finder() -> ModuleType:
    """Return adders.py beside this file as a module."""
    spec = importlib.util.spec_from_file_location("adders", Path(__file__).with_name("adders.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found(by: Callable[[str], Iterator[tuple[int, str]]]) -> dict[str, list[str]]:
    """Return module -> what is found in it."""
    modules = {path.relative_to(SOURCES).as_posix(): path.read_text() for path in sorted(SOURCES.rglob("*.py"))}
    told = {name: [f"{line}: {text}" for line, text in by(source)] for name, source in modules.items()}
    return {name: each for name, each in told.items() if each}


def test_frames_are_added_up_in_one_place() -> None:
    wrong = {name: each for name, each in found(finder().sums).items() if name not in {*ADDER, *OTHERS}}
    assert not wrong, "let record/tally.py add them, or stats/frames: then screen and report have the same figure"


def test_every_exemption_is_needed() -> None:
    assert sorted(found(finder().sums)) == sorted({*ADDER, *OTHERS})


def test_the_outcomes_are_listed_in_one_place() -> None:
    assert {outcome.name.lower() for outcome in Outcome} == finder().OUTCOMES
    assert not found(finder().lists), f"take OUTCOMES, NOT_PASSED or OF_DUE of {LIST}"


@pytest.mark.parametrize(
    "planted",
    [
        "for row in frame.rows: self.counts[name] += getattr(row, name)",
        "passed = sum(row.passed for frame in pressing.frames() for row in frame.rows if row.iteration)",
        "ended = sum(getattr(row, name) for row in rows for name in OUTCOMES)",
        "iterations = [row for row in each.rows if row.iteration]",
        "both[0] += share * row.done",
        "self.missed += frame.missed",
        "times - sum(int(row['passed']) for row in rows)",
        "whole = Histogram()",
        "self.times.merge(row.response)",
        "self.late += [frame.late] if frame.late else []",
        "for place, row in enumerate(frame.rows, 1): pass",
    ],
)
def test_a_planted_sum_is_caught(planted: str) -> None:
    assert list(finder().sums(planted)), planted


@pytest.mark.parametrize(
    "harmless",
    [
        "for row in reply.rows: numbers += row",
        "for row in reader.rows(block): count += 1",
        "sum(tally.counts['passed'] for tally in measured.iterations())",
        "found = counted(frames, lambda row: row.iteration)",
        "told.missed += left",
        "late = Histogram.decode(data)",
        "sum(frame.nanoseconds for frame in kept)",
    ],
)
def test_what_is_no_such_sum_is_let_through(harmless: str) -> None:
    assert not list(finder().sums(harmless)), harmless


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ('WORDS = ("failed", "refused", "ambiguous", "unfinished", "lost")', True),
        ('NAMES = ["passed", "failed", "cancelled", "refused", "ambiguous"]', True),
        ("whole = row.passed + row.failed + row.refused + row.ambiguous + row.unfinished + row.lost", True),
        ('JUDGED = ("failed", "refused", "ambiguous")', False),
        ("wrong = counts.failed + counts.refused + counts.ambiguous", False),
        ("names = (*NOT_PASSED, MISSED)", False),
    ],
)
def test_a_planted_list_is_caught(text: str, listed: bool) -> None:
    assert bool(list(finder().lists(text))) is listed
