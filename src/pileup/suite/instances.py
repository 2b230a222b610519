"""Makes plug-ins from a suite: the only code that merges options and finds classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from math import lcm
from pathlib import Path
from typing import Any, TypeVar

from pileup.model.by_place import at_place, values_by_place
from pileup.model.errors import TargetError
from pileup.model.plan import Case, Plan
from pileup.model.program import Program, Step
from pileup.model.report_spec import ReportSpec
from pileup.model.shared import SharedData
from pileup.model.suite import MonitorSpec, Suite, TargetSpec, TestSpec
from pileup.plugin import Context, Daemon, Launcher, Monitor, Report, Target, Test
from pileup.plugin.catalogue import CatalogueTarget
from pileup.plugin.options import declared
from pileup.plugin.registry import load
from pileup.plugin.test import needs_of
from pileup.suite.static_plugins import stand_in

AIM = "target_"
"""Field of a test's specification that names its target, or each of several."""
LAYERS = "layers"
"""Word of a suite, and option of tests."""


def plugin_class(kind: str, name: str, folder: Path) -> Any:
    """Return the class of a plug-in, looked up once; PluginError when there is none."""
    return stand_in(kind, name) or imported(kind, name, folder)


@cache
def imported(kind: str, name: str, folder: Path) -> Any:
    """Return the class of a plug-in; PluginError when there is none."""
    return load(kind, name, folder)


def class_of_test(use: str, folder: Path) -> type[Test]:
    """Return the class of a test; PluginError when there is none."""
    found: type[Test] = plugin_class("tests", use, folder)
    return found


def class_of_target(kind: str, folder: Path) -> type[Target]:
    """Return the class of a kind of target; PluginError when there is none."""
    found: type[Target] = plugin_class("targets", kind, folder)
    return found


def class_of_monitor(use: str, folder: Path) -> type[Monitor]:
    """Return the class of a monitor; PluginError when there is none."""
    found: type[Monitor] = plugin_class("monitors", use, folder)
    return found


Value = TypeVar("Value")


def class_of_report(use: str, folder: Path) -> type[Report]:
    """Return the class of a report; PluginError when there is none."""
    found: type[Report] = plugin_class("reports", use, folder)
    return found


def merged_options(cls: type[Test], common: Mapping[str, Value], own: Mapping[str, Value]) -> dict[str, Value]:
    """Return a test's options: those of the suite that the test has, then its own."""
    known = declared(cls)
    return {**{name: value for name, value in common.items() if name in known}, **own}


def in_layers(suite: Suite, test: TestSpec, folder: Path) -> TestSpec:
    """Return a test with the layers of its suite as its option: when it presses, has the option and does not give it.

    What prepares (so many `times`) is done whole: a part of it would leave nothing to press. Raises PluginError.
    """
    if suite.layers is None or not (test.load.sustained and test.load.times is None) or LAYERS in test.options:
        return test
    if LAYERS not in declared(class_of_test(test.use, folder)):
        return test
    return test.model_copy(update={"options": {**test.options, LAYERS: suite.layers}})


def context_of(plan_folder: str, seed: int, spec: TestSpec, client: int = 0, compared: bool = False) -> Context:
    """Return what a test may know about its case before its targets are open."""
    owns = dict.fromkeys(spec.targets, "")
    return Context(spec.name, spec.load, seed, spec.timeout, Path(plan_folder), client, owns=owns, compared=compared)


def in_order(case: Case, folder: Path) -> Case:
    """Return a case with its targets in the order of its class: the first is the main one."""
    given = case.test.targets
    words = [word for word in needs_of(class_of_test(case.test.use, folder)) if word in given]
    if not words or words == list(given):
        return case
    return replace(case, test=case.test.model_copy(update={AIM: {word: given[word] for word in words}}))


def settings_of(spec: TargetSpec, folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the settings that the kind of a target changes by itself, with their values; PluginError for no kind.

    Of a server that pileup launched only those that are not words of `launch`: these another start brings about.
    """
    cls = class_of_target(spec.kind, folder)
    own = cls.settings_of(spec.options)
    if spec.launch is None:
        return own
    words = getattr(cls.launch_settings, "model_fields", own)
    return {name: values for name, values in own.items() if name not in words}


def make_test(
    plan: Plan,
    case: Case,
    target_of: Callable[[str], Target | None],
    client: int,
    shared: SharedData | None = None,
    *,
    place: int = 1,
) -> Test:
    """Return the test of a case for one client at a place of the fleet, numbered from 1.

    `target_of` returns a target of the suite as a test is to use it, `shared` is what its `begin_run` returned.

    Raises PluginError, or ValueError for options that do not fit.
    """
    cls = class_of_test(case.test.use, Path(plan.folder))
    options = at_place(merged_options(cls, plan.suite.options, case.test.options), place)
    compared = any(case.test.name in names for names in plan.suite.equivalent)
    name = case.test.target
    context = context_of(plan.folder, plan.suite.seed, case.test, client, compared)
    owns = {**plan.own, **{word: plan.own.get(each, "") for word, each in case.test.targets.items()}}
    own = plan.own.get(name or "", "")
    test = cls(
        target_of(name) if name else None,
        replace(context, own=own, owns=owns, point=case.point, repeat=case.repeat),
        **options,
    )
    test.shared = test.shared if shared is None else shared
    test.targets = {word: target_of(each) for word, each in case.test.targets.items()}
    return test


def program_of(test: Test, spec: TestSpec) -> Program:
    """Return the program of a native test: where it sends something to a word of its `needs`, to that target."""
    program = test.program()
    if not spec.targets:
        return program
    return replace(program, steps=tuple(_aimed_step(step, spec.targets) for step in program.steps))


def _aimed_step(step: Step, targets: Mapping[str, str]) -> Step:
    to = step.destination
    name = targets.get(to.target) if to is not None else None
    return step if to is None or name is None else replace(step, destination=replace(to, target=name))


def places_that_differ(plan: Plan, case: Case) -> range:
    """Return the places, from 1, at which the options of a case may differ: only the first if they do not."""
    cls = class_of_test(case.test.use, Path(plan.folder))
    options = merged_options(cls, plan.suite.options, case.test.options)
    different = lcm(*(len(values_by_place(value)) or 1 for value in options.values()))
    return range(1, (plan.suite.places.count or different if different > 1 else 1) + 1)


def make_target(plan: Plan, name: str, url: str) -> Target:
    """Return the target of that name at an address, which the plan need not know (launched, scratch)."""
    spec = plan.suite.targets[name]
    target = class_of_target(spec.kind, Path(plan.folder))(url, spec.credentials, **spec.options)
    if spec.path is not None:
        target.via = spec.path.at or ""
    if isinstance(target, CatalogueTarget):
        target.inside = plan.suite.limits.inside or ""
    return target


def make_launcher(plan: Plan, name: str, folder: Path, /, **settings: object) -> Launcher | None:
    """Return how to start the private server of a target, None when the suite asks for none.

    `settings` are those of a point of the scan. Raises TargetError when its kind has no server with such settings.
    """
    spec = plan.suite.targets[name]
    if spec.launch is None:
        return None
    launcher = class_of_target(spec.kind, Path(plan.folder)).launcher({**spec.launch, **settings}, folder)
    if launcher is None:
        told = f"target {name} cannot be started: kind {spec.kind} has no server with these settings"
        raise TargetError(told, "settings of a server", "`pileup validate` names them")
    return launcher


def daemons_of(spec: TargetSpec, folder: Path) -> list[str]:
    """Return the names of the daemons of a launched server; none if its settings are wrong, which is reported
    elsewhere.
    """
    try:
        launcher = class_of_target(spec.kind, folder).launcher(spec.launch or {}, folder)
    except Exception:
        return []
    return [each.name for each in (launcher.processes if launcher else ()) if isinstance(each, Daemon)]


def make_monitor(plan: Plan, spec: MonitorSpec) -> Monitor:
    """Return a monitor of the suite."""
    return class_of_monitor(spec.use, Path(plan.folder))(**spec.options)


def make_report(plan: Plan, spec: ReportSpec) -> Report:
    """Return a report of the suite."""
    report = class_of_report(spec.use, Path(plan.folder))(**spec.options)
    report.folder = Path(plan.folder)
    return report
