"""Whether pileup can start the targets of a plan at each of its points: some settings only a machine has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from pileup.model.plan import Plan
from pileup.model.suite import TargetSpec
from pileup.plugin import Target
from pileup.suite import instances
from pileup.suite.formats.tree import Mapping, where
from pileup.suite.problems import Problems, shown

SIMULATE = "`pileup simulate` runs it in virtual time"


class _Launch(NamedTuple):
    """A target, with the settings that it has at some point."""

    name: str
    spec: TargetSpec
    settings: Any
    """Word -> value, as written."""


def check_servers(plan: Plan, tree: Mapping, problems: Problems) -> None:
    """Add a problem for each target without a server at some point of the scan; it names the settings."""
    known: set[tuple[str, tuple[str, ...]]] = set()
    for name, spec, settings in _launches(plan):
        cls = instances.class_of_target(spec.kind, Path(plan.folder))
        if _startable(cls, settings, Path(plan.folder)):
            continue
        words = tuple(each for each in settings if not _startable(cls, {each: settings[each]}, Path(plan.folder)))
        if (name, words) in known:
            continue
        known.add((name, words))
        what = f"no server of kind {shown(spec.kind)} has {', '.join(map(shown, words or settings))}"
        axis = next((each for word in words if (each := f"{name}.{word}") in plan.suite.scan), "")
        at = where(tree, ("scan", axis), key=True) if axis else where(tree, ("targets", name, "launch"))
        hint = "" if cls.simulated is Target.simulated else SIMULATE
        problems.add(at, f"target {shown(name)} cannot be started: {what}", "settings of a server", hint)


def _launches(plan: Plan) -> Iterator[_Launch]:
    """Yield what the cases launch, once for each combination of settings."""
    known: set[str] = set()
    for case in plan.cases:
        for name in (*case.test.aims, *case.settings):
            spec = plan.suite.targets[name]
            settings = {**(spec.launch or {}), **case.settings.get(name, {})}
            text = json.dumps([name, settings], sort_keys=True, default=str)
            if spec.launch is not None and text not in known:
                known.add(text)
                yield _Launch(name, spec, settings)


def _startable(cls: type[Target], settings: Any, folder: Path) -> bool:
    """Whether there is a server with these settings; wrong ones are reported elsewhere."""
    with suppress(Exception):
        return cls.launcher(settings, folder) is not None
    return True
