"""Points of a scan: what each axis varies, every combination, and the order in which points are visited."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pileup.model.loads.load import Load
from pileup.model.suite import Axis as AxisName
from pileup.model.suite import Suite, TestSpec

COMMON = "options"
"""Owner of axes that vary an option of the suite: every test that has it sees the value."""
MOST_CASES = 100_000
"""Cases of one run."""

AXIS_PATTERN = next(each.pattern for each in get_args(AxisName) if getattr(each, "pattern", None))
"""What every name of an axis matches."""

TARGET = "target"
"""The word of a test that an axis may vary beside its options: which target it is for, or which of several."""
Kind = Literal["setting", "option", "common", "load", "target", "unknown"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One parameter that is varied: `owner.word`, or `owner.load.word`. Owner `options` means every test."""

    name: str
    kind: Kind
    owner: str
    """Name of a target or of a test."""
    word: str
    values: tuple[Any, ...]


def axes_of(suite: Suite) -> list[Axis]:
    """Return the axes of a suite in the order of the file."""
    tests = {test.name for test in suite.tests}
    return [axis_of(name, tuple(values), tests, set(suite.targets)) for name, values in suite.scan.items()]


def axis_of(name: str, values: tuple[Any, ...], tests: set[str], targets: set[str]) -> Axis:
    """Return what a name like `se.threads` varies; kind "unknown" when the suite has nothing of that name.

    A name that is both a test's and a target's means the test.
    """
    owner, _, word = name.partition(".")
    kind: Kind = "unknown"
    if word == TARGET and (owner == COMMON or owner in tests):
        kind = "target"
    elif owner == COMMON and "." not in word:
        kind = "common"
    elif owner in tests:
        kind = "load" if word.startswith("load.") and word.count(".") == 1 else "option"
    elif owner in targets:
        kind = "setting"
    if kind != "load" and "." in word:
        kind = "unknown"
    return Axis(name, kind, owner, word.removeprefix("load.") if kind == "load" else word, values)


def points_of(axes: list[Axis]) -> list[dict[str, object]]:
    """Return every combination, axis -> value; the last axis varies fastest. One empty point without axes."""
    combinations = itertools.product(*(axis.values for axis in axes))
    return [dict(zip((axis.name for axis in axes), values, strict=True)) for values in combinations]


def visits(points: int, repeats: int) -> Iterator[tuple[int, int]]:
    """Yield (repeat, number of the point) in the order in which they are done.

    Points are interleaved, and every second repeat goes backwards: a drift of the system that is linear in time then
    falls on all points alike (counterbalancing, "ABBA").
    """
    for repeat in range(1, repeats + 1):
        order = range(points) if repeat % 2 else range(points - 1, -1, -1)
        yield from ((repeat, point) for point in order)


def text_of(value: Any) -> str:
    """Return a value of an axis as people read it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {text_of(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return "" if value is None else str(value)


def test_at(test: TestSpec, axes: list[Axis], point: dict[str, object], options: set[str]) -> TestSpec:
    """Return a test as it is at a point; `options` are those that it has."""
    given: dict[str, object] = dict(test.options)
    load: dict[str, object] = {}
    changes: dict[str, object] = {}
    for axis in axes:
        if axis.kind == "target" and aims(axis, test):
            changes["target_"] = point[axis.name]
        common = axis.kind == "common" and axis.word in options and axis.word not in test.options
        if common or (axis.owner == test.name and axis.kind == "option"):
            given[axis.word] = point[axis.name]
        elif axis.owner == test.name and axis.kind == "load":
            load[axis.word] = point[axis.name]
    if given != test.options:
        changes["options"] = given
    if load:
        changes["load"] = load_with(test.load, load)
    return test.model_copy(update=changes) if changes else test


def aims(axis: Axis, test: TestSpec) -> bool:
    """Whether an axis over targets says which one a test is for: its own axis, or one for all that name none."""
    return axis.kind == "target" and (axis.owner == test.name or (axis.owner == COMMON and test.target is None))


def load_with(load: Load, words: dict[str, object]) -> Load:
    """Return a load with some words changed. Raises pydantic.ValidationError when they do not go together."""
    return Load.model_validate({**load.model_dump(by_alias=True, exclude_unset=True), **words})


def settings_at(axes: list[Axis], point: dict[str, object]) -> dict[str, dict[str, object]]:
    """Return target -> setting -> value wanted at a point."""
    wanted: dict[str, dict[str, object]] = {}
    for axis in axes:
        if axis.kind == "setting":
            wanted.setdefault(axis.owner, {})[axis.word] = point[axis.name]
    return wanted
