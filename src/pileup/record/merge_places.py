"""Runs of one suite from different places: what they may differ in, and what their cases are called together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from pileup.model.errors import NotARun
from pileup.model.manifest import CaseEntry, Manifest, TargetEntry
from pileup.model.units import counted

PLACE = "place"
"""The axis that the runs become."""
MAY_DIFFER = (
    "targets.*.url",
    "targets.*.path",
    "targets.*.path.*",
    "targets.*.credentials",
    "targets.*.credentials.*",
    "places",
    "places.*",
    "labels",
    "labels.*",
    "about",
)
"""Settings (`--set`) in which runs from different places differ without being asked: where the place is, and who."""
NAME = re.compile(r"[^\s,=\[\]#~]+")
"""A name of a place: it is in the names of cases and points."""


@dataclass(frozen=True, slots=True)
class AsPlaces:
    """How runs are merged as places: the name of each, in their order, and further settings that may differ."""

    names: tuple[str, ...]
    differing: tuple[str, ...] = ()

    def check_names(self, runs: int) -> None:
        """Raise NotARun for names that are not as many as the runs, not alone, or no names."""
        if len(self.names) != runs:
            raise NotARun(
                f"there are {counted(len(self.names), 'name')} for {counted(runs, 'run')}",
                "one for each, in their order",
                "pileup merge RUN RUN --places geneva,taipei",
            )
        for name in self.names:
            if not NAME.fullmatch(name):
                raise NotARun(f"a place is called {name!r}", "a name without blanks and any of , = [ ] # ~")
            if self.names.count(name) > 1:
                raise NotARun(
                    f"two places are called {name}",
                    "places of different names",
                    "name them: pileup merge RUN RUN --places geneva,taipei",
                )

    def check(self, name: str, run: Manifest, first_name: str, first: Manifest) -> None:
        """Raise NotARun where a run does not belong to the first one: another suite, other settings, other points."""
        if run.suite.text != first.suite.text or (not run.suite.text and run.suite.digest != first.suite.digest):
            raise NotARun(
                f"{name} and {first_name} are runs of different suites",
                "runs of the same suite, whose settings for a place are given with --set",
                "`pileup compare` compares them",
            )
        for setting in sorted({*run.suite.values, *first.suite.values}):
            here, there = run.suite.values.get(setting), first.suite.values.get(setting)
            if here != there and not self._may_differ(setting):
                raise NotARun(
                    f"{setting} is {_said(here)} in {name} and {_said(there)} in {first_name}",
                    f"the same everywhere, but for {', '.join((*MAY_DIFFER, *self.differing))}",
                    f"add --differs {setting} if the places are to differ in it",
                )
        if PLACE in run.scan or any(each.place for each in run.merged):
            raise NotARun(f"{name} has places already: its scan varies `{PLACE}`", "runs of one place each")
        if (run.points, run.together) != (first.points, first.together):
            raise NotARun(f"{name} and {first_name} have different points", "runs of the same scan")

    def _may_differ(self, setting: str) -> bool:
        return any(fnmatchcase(setting, pattern) for pattern in (*MAY_DIFFER, *self.differing))


def _said(value: str | None) -> str:
    return "as in the suite" if value is None else value


def case_at(case: CaseEntry, place: str, scanned: bool) -> CaseEntry:
    """Return a case as one of a place; what a scan does once for all points stays that."""
    point = {PLACE: place, **case.point} if case.point or not scanned else case.point
    return replace(case, name=name_at(case, place), point=point)


def name_at(case: CaseEntry, place: str) -> str:
    """Return the name of a case with its place: `read[place=geneva,se.threads=4]#2`."""
    rest = case.name.removeprefix(case.test)
    inside = f"[{PLACE}={place},{rest[1:]}" if rest.startswith("[") else f"[{PLACE}={place}]{rest}"
    return f"{case.test}{inside}"


def points_at(run: Manifest, places: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """Yield the points of all places, the first place first."""
    for place in places:
        yield from ({PLACE: place, **point} for point in run.points or ({},))


def targets_of(runs: Sequence[Manifest], places: Sequence[str]) -> Iterator[TargetEntry]:
    """Yield the targets of the first run, with the addresses by which other places reached them.

    What was said of a target at some of the places only, of the way there for instance, is said with the place.
    """
    for target in runs[0].targets:
        known = [
            (place, each)
            for run, place in zip(runs, places, strict=True)
            for each in run.targets
            if each.name == target.name
        ]
        shared = [text for text in target.remarks if all(text in each.remarks for _, each in known)]
        own = [f"from {place}: {text}" for place, each in known for text in each.remarks if text not in shared]
        told = [f"from {place} it is {each.url}" for place, each in known[1:] if each.url != target.url]
        yield replace(target, remarks=(*shared, *own, *told))
