"""Paths of targets that differ from place to place: what they are while one place runs a point of the scan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pileup.model.suite import Suite, TestSpec
from pileup.model.units import counted


def path_settings(suite: Suite, tests: Sequence[TestSpec]) -> Iterator[tuple[str, str, object]]:
    """Yield target, `path.WORD` and its value for the place from which the tests of a point run.

    Raises ValueError where tests of a point reach such a target from several places: a relay has one path at a time.
    """
    for name, target in suite.targets.items():
        if target.path is None or not target.path.by_place:
            continue
        count = suite.places.count or len(target.path.by_place)  # which of a cluster's are there, only it knows
        places = {place for test in tests if name in test.aims for place in _places(test, suite.places.names, count)}
        if len({tuple(map(str, target.path.at_place(place))) for place in places}) > 1:
            raise ValueError(
                f"the path of target {name!r} differs by place, and {counted(len(places), 'place')} reach it at a "
                "point; expected one, e.g. `places: [1]` in the tests, or the axis `places: [[1], [2]]`"
            )
        for word, value in target.path.at_place(min(places)) if places else ():
            yield name, f"path.{word}", value


def _places(test: TestSpec, names: Sequence[str], count: int) -> list[int]:
    """Return the places of the fleet that run a test, numbered from 1."""
    if test.places is None or isinstance(test.places, int):
        return list(range(1, (test.places or count) + 1))
    return [
        int(name) if name.isdigit() else names.index(name) + 1 for name in sorted(test.places) if _is_place(name, names)
    ]


def _is_place(name: str, names: Sequence[str]) -> bool:
    """Whether the fleet has a place of that name or number; any other is reported where the suite is checked."""
    return name.isdigit() or name in names
