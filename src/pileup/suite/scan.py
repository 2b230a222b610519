"""Points of a scan: what each axis varies, every combination, and the order in which points are visited."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, TypeAdapter

from pileup.model.loads.load import Load
from pileup.model.suite import Axis as AxisName
from pileup.model.suite import EnvironmentWord, PlacesOfTest, Suite, TestSpec
from pileup.suite.coupling import Groups

COMMON = "options"
"""Owner of axes that vary an option of the suite: every test that has it sees the value."""
MOST_CASES = 100_000
"""Cases of one run."""

AXIS_PATTERN = next(each.pattern for each in get_args(AxisName) if getattr(each, "pattern", None))
"""What every name of an axis matches."""

TARGET = "target"
"""The word of a test that an axis may vary beside its options: which target it is for, or which of several."""
PLACES, ENVIRONMENT = "places", "environment"
"""Axes of their own: for all tests that do not say theirs."""
Kind = Literal["setting", "option", "common", "load", "target", "places", "environment", "variable", "unknown"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One parameter that is varied: `owner.word`, `owner.load.word`, or a word alone; owner `options` is every test."""

    name: str
    kind: Kind
    owner: str
    """Name of a target or of a test; of a word alone it is that word."""
    word: str
    values: tuple[Any, ...]


def axes_of(suite: Suite) -> list[Axis]:
    """Return the axes of a suite in the order of the file."""
    tests, targets = {test.name for test in suite.tests}, set(suite.targets)
    return [axis_of(name, tuple(values), tests, targets, suite.variables) for name, values in suite.scan.items()]


def axis_of(
    name: str,
    values: tuple[Any, ...],
    tests: Collection[str],
    targets: Collection[str],
    variables: Collection[str] = (),
) -> Axis:
    """Return what a name like `se.threads` varies; kind "unknown" when the suite has nothing of that name.

    A name that is both a test's and a target's means the test.
    """
    owner, dot, word = name.partition(".")
    if not dot:
        return Axis(name, _alone(name, variables), name, name, values)
    kind: Kind = "unknown"
    if word == TARGET and (owner == COMMON or owner in tests):
        kind = "target"
    elif word == PLACES and owner in tests:
        kind = "places"
    elif owner == COMMON and "." not in word:
        kind = "common"
    elif owner in tests:
        kind = "load" if word.startswith("load.") and word.count(".") == 1 else "option"
    elif owner in targets:
        kind = "setting"
    if kind != "load" and "." in word and not (kind == "setting" and of_path(word)):
        kind = "unknown"
    return Axis(name, kind, owner, word.removeprefix("load.") if kind == "load" else word, values)


def of_path(setting: str) -> str:
    """Return which word of a target's `path` a setting is: `latency` of `path.latency`; empty for any other."""
    owner, _, word = setting.partition(".")
    return word if owner == "path" and "." not in word else ""


def _alone(name: str, variables: Collection[str]) -> Kind:
    if name == PLACES:
        return "places"
    if name == ENVIRONMENT:
        return "environment"
    return "variable" if name in variables else "unknown"


def factors_of(axes: Sequence[Axis], together: Groups) -> list[list[Axis]]:
    """Return the axes in the order of the file, those that are varied together as one: each has as many values."""
    group = {name: number for number, names in enumerate(together) for name in names}
    found: dict[str | int, list[Axis]] = {}
    for axis in axes:
        found.setdefault(group.get(axis.name, axis.name), []).append(axis)
    return list(found.values())


def points_of(axes: Sequence[Axis], together: Groups = ()) -> list[dict[str, object]]:
    """Return every combination, axis -> value; the last axis varies fastest. One empty point without axes.

    Axes of a group of `together` go on as one, row by row.
    """
    factors = factors_of(axes, together)
    rows = [list(zip(*(axis.values for axis in factor), strict=True)) for factor in factors]
    names = [axis.name for factor in factors for axis in factor]
    points = (itertools.chain.from_iterable(values) for values in itertools.product(*rows))
    return [dict(zip(names, values, strict=True)) for values in points]


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
        elif axis.kind in _OF_TESTS and reaches(axis, test):
            changes[axis.word] = _OF_TESTS[axis.kind].validate_python(point[axis.name])
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


def _environment(value: object) -> object:
    """Nothing is an environment without software, for a suite that has one."""
    return {} if value is None else value


_OF_TESTS: dict[str, TypeAdapter[Any]] = {
    "places": TypeAdapter(PlacesOfTest),
    "environment": TypeAdapter(Annotated[EnvironmentWord, BeforeValidator(_environment)]),
}
"""Words of tests that axes vary beside target, options and load -> what a value is."""


def reaches(axis: Axis, test: TestSpec) -> bool:
    """Whether an axis over a word of tests is for this one: its own axis, or one for all that do not say theirs."""
    return axis.owner == test.name if "." in axis.name else getattr(test, axis.word) is None


def load_with(load: Load, words: dict[str, object]) -> Load:
    """Return a load with some words changed. Raises pydantic.ValidationError when they do not go together."""
    return Load.model_validate({**load.model_dump(by_alias=True, exclude_unset=True), **words})


def settings_at(
    axes: list[Axis], point: dict[str, object], of_variables: Iterable[tuple[str, str, object]] = ()
) -> dict[str, dict[str, object]]:
    """Return target -> setting -> value wanted at a point; `of_variables` are those that follow from its variables."""
    wanted: dict[str, dict[str, object]] = {}
    for target, word, value in of_variables:
        wanted.setdefault(target, {})[word] = value
    for axis in axes:
        if axis.kind == "setting":
            wanted.setdefault(axis.owner, {})[axis.word] = point[axis.name]
    return wanted
