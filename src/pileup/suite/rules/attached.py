"""Targets that pileup did not start: which parts of a suite do not apply, and which measure in another way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pileup.model import check as checks
from pileup.model.not_covered import Uncovered
from pileup.model.rest import COOLDOWN
from pileup.model.suite import FaultSpec, MonitorSpec, Suite, TargetSpec
from pileup.suite import instances


def is_attached(spec: TargetSpec, folder: Path) -> bool:
    """Whether pileup does not start a target: it has an address, or its kind needs none."""
    if spec.launch is not None:
        return False
    return spec.url is not None or not instances.class_of_target(spec.kind, folder).needs_url


def chosen_otherwise(spec: MonitorSpec, folder: Path) -> bool:
    """Whether a monitor of daemons says how their processes are found where pileup did not start them."""
    return any(word in spec.options for word in instances.class_of_monitor(spec.use, folder).instead_of_target)


def owner_of(spec: MonitorSpec, folder: Path) -> str:
    """Return the target whose daemons a monitor watches, empty for any other monitor."""
    cls = instances.class_of_monitor(spec.use, folder)
    return str(spec.options.get("target") or "").partition(".")[0] if cls.of_daemons else ""


def attach(spec: MonitorSpec, suite: Suite, folder: Path) -> MonitorSpec:
    """Return a monitor as it measures: by its other words where pileup did not start what it watches."""
    owner = owner_of(spec, folder)
    if not owner or not is_attached(suite.targets[owner], folder) or not chosen_otherwise(spec, folder):
        return spec
    found = spec.model_copy(update={"watches": spec.watches or owner})
    (found.model_extra or {}).pop("target")
    return found


def uncovered(suite: Suite, folder: Path, given_away: Iterable[str]) -> tuple[Uncovered, ...]:
    """Return what of a suite is not covered; `given_away` are targets whose `launch` gave way to a url.

    Monitors are as `attach` has left them.
    """
    found = [
        Uncovered("launch", name, "a url was set for it: pileup does not start it", whole=False)
        for name in given_away
        if name in suite.targets
    ]
    monitors = list(_monitors(suite, folder))
    lost = {each.name: each for each in monitors}
    return (*found, *monitors, *_faults(suite, folder), *_cooldown(suite, lost))


def blind(suite: Suite, found: Iterable[Uncovered]) -> Iterator[tuple[int, str, str]]:
    """Yield tests whose load is steered by what is not covered: place in the suite, name, and why."""
    lost = {each.name: each.reason for each in found if each.what == "monitor" and each.whole}
    for place, test in enumerate(suite.tests):
        for look in test.load.shape.looks:
            if (name := _monitor(suite, look)) in lost:
                yield place, test.name, f"monitor {name} is not covered: {lost[name]}"


def _monitor(suite: Suite, check: checks.Check) -> str:
    """Return the monitor that a check speaks of, empty when it speaks of something else."""
    try:
        found = checks.resolve(check, (), {spec.name or spec.use for spec in suite.monitors})
    except ValueError:  # a test
        return ""
    return found.name if found.kind == "monitor" else ""


def _not_started(name: str) -> str:
    return f"pileup did not start {name}"


def _monitors(suite: Suite, folder: Path) -> Iterator[Uncovered]:
    for spec in suite.monitors:
        owner = owner_of(spec, folder)
        if owner and is_attached(suite.targets[owner], folder):
            words = instances.class_of_monitor(spec.use, folder).instead_of_target
            hint = f"; {' or '.join(f'`{word}`' for word in words)} chooses its processes" if words else ""
            yield Uncovered("monitor", spec.name or spec.use, f"{_not_started(owner)}{hint}")


def name_of(number: int, spec: FaultSpec) -> str:
    """Return what a fault is called in checks: its name, or its place in the list, from 1."""
    return spec.name or str(number + 1)


def _faults(suite: Suite, folder: Path) -> Iterator[Uncovered]:
    """Yield faults that cannot be done, then tests whose load lacks some of its faults, or all of them."""
    done: dict[str, int] = {}
    lacking: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for number, spec in enumerate(suite.faults):
        owner = (spec.target or "").partition(".")[0]
        falls = owner in suite.targets and is_attached(suite.targets[owner], folder)
        if falls:
            yield Uncovered("fault", name_of(number, spec), _not_started(owner))
        for test in spec.during or _first_sustained(suite):
            done[test] = done.get(test, 0) + (not falls)
            if falls:
                lacking.setdefault(test, []).append(name_of(number, spec))
                reasons[test] = _not_started(owner)
    for test, names in lacking.items():
        told = f"{', '.join(names)} did not happen in it: {reasons[test]}"
        yield Uncovered("test", test, told, whole=not done[test])


def _first_sustained(suite: Suite) -> tuple[str, ...]:
    """Return the test in whose load a fault without `during` happens."""
    return tuple(test.name for test in suite.tests if test.load.sustained and not test.with_)[:1]


def _cooldown(suite: Suite, lost: dict[str, Uncovered]) -> Iterator[Uncovered]:
    """Yield the cool-down where the monitor that it waits for gives no samples."""
    until = suite.cooldown.until if suite.cooldown else None
    name = _monitor(suite, checks.parse(until)) if until else ""
    if name in lost:
        yield Uncovered("cooldown", COOLDOWN, f"it waits for monitor {name}, and {lost[name].reason}")
