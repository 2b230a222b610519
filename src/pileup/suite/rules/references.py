"""Rules between the parts of a suite: names, dependencies, references, checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pileup.model import check as checks
from pileup.model import self_metrics
from pileup.model.check import Check, Selected
from pileup.model.conditions import NEVER
from pileup.model.criterion import CriterionSpec
from pileup.model.errors import PluginError
from pileup.model.event import FAULT, RECOVERY
from pileup.model.loads.find import Find
from pileup.model.loads.hold import Hold
from pileup.model.loads.levels import FOUND, FOUND_HIGH, FOUND_LOW
from pileup.model.nearest import COMPARED
from pileup.model.problem_codes import ProblemCode
from pileup.model.suite import MonitorSpec, TestSpec
from pileup.model.units import format_time
from pileup.suite import instances
from pileup.suite.bind import BoundPart, Draft
from pileup.suite.formats.tree import Mapping, Scalar, Sequence, where
from pileup.suite.order import circles
from pileup.suite.problems import Position, Problems, near, parts, shown
from pileup.suite.replays import Replays, check_replays
from pileup.suite.rules.beside import BesideRules
from pileup.suite.rules.equivalent import check_equivalent
from pileup.suite.rules.plugins import PluginRules
from pileup.suite.rules.until import check_until


def check(draft: Draft, folder: Path, problems: Problems, replays: Replays) -> None:
    """Add every problem between parts of the suite, or between the suite and its plug-ins."""
    _unique("test", [(part.spec.name, where(part.node, ("name",))) for part in draft.tests], problems)
    _unique("criterion", [(part.spec.id, where(part.node, ("id",))) for part in draft.criteria], problems)
    _check_title(draft, problems)
    _check_monitor_names(draft, problems)
    _check_after(draft, problems)
    plugins = PluginRules(draft, folder, problems)
    plugins.check()
    check_replays(draft, replays, problems)
    _check_checks(draft, folder, problems.of(ProblemCode.CHECK), plugins.operations)
    beside = problems.of(ProblemCode.BESIDE)
    BesideRules(draft, tuple(monitor_name(part.spec) for part in draft.monitors), folder, beside).check()
    check_until(draft, problems.of(ProblemCode.CHECK))
    check_equivalent(draft, folder, problems.of(ProblemCode.CONFLICT))


def _check_title(draft: Draft, problems: Problems) -> None:
    """Keep control characters out of what is shown on terminals and names a folder."""
    title = draft.tree.entries.get("title")
    if isinstance(title, Scalar) and not title.text.isprintable():
        problems.add(
            title.at, f"`title` is {shown(title.text)}", "one line of printable text", code=ProblemCode.BAD_NAME
        )


def monitor_name(spec: MonitorSpec) -> str:
    """Return the name of a monitor in checks and charts: its own, that of the plug-in, or that of its class."""
    return spec.name or spec.use.rpartition(":")[2]


def _unique(what: str, names: Iterable[tuple[str, Position]], problems: Problems, hint: str = "") -> None:
    first: dict[str, Position] = {}
    for name, at in names:
        if name in first:
            before = first[name]
            told = f"the first is in line {before.line}" if before.line != at.line else ""
            problems.add(
                at, f"a second {what} {shown(name)}", "names that differ", hint or told, code=ProblemCode.DUPLICATE_NAME
            )
        first.setdefault(name, at)


def _check_monitor_names(draft: Draft, problems: Problems) -> None:
    names = [
        (monitor_name(part.spec), where(part.node, ("name",) if part.spec.name else ("use",)))
        for part in draft.monitors
    ]
    _unique("monitor", names, problems, "give each a `name`")
    tests = set(draft.names("tests"))
    for name, at in names:
        if name == self_metrics.MONITOR:
            told = f"{shown(name)} is what pileup's samples of itself are called"
            problems.add(at, told, "another name", "give the monitor a `name`", code=ProblemCode.DUPLICATE_NAME)
        if name in tests:
            problems.add(
                at,
                f"{shown(name)} is a monitor and a test",
                "names that differ, for checks",
                "give the monitor a `name`",
                code=ProblemCode.DUPLICATE_NAME,
            )


def _check_after(draft: Draft, problems: Problems) -> None:
    names = dict.fromkeys(draft.names("tests"))
    needs = {part.spec.name: part.spec.after for part in draft.tests}
    nodes = {part.spec.name: part.node for part in draft.tests}
    for part in draft.tests:
        for number, name in enumerate(part.spec.after):
            if name not in names:
                others = [each for each in names if each != part.spec.name]
                problems.unknown(where(part.node, ("after", number)), "test", name, others)
    for circle in circles(needs):
        at = where(nodes[circle[0]], ("after",))
        if len(circle) == 2:
            problems.add(at, f"{shown(circle[0])} needs itself", "another test, or no `after`", code=ProblemCode.ORDER)
        else:
            told = " -> ".join(circle)
            problems.add(
                at,
                f"tests that need each other: {told}",
                "an order",
                "remove one `after` (a -> b: a needs b)",
                code=ProblemCode.ORDER,
            )


def _check_checks(draft: Draft, folder: Path, problems: Problems, operations: dict[str, frozenset[str]]) -> None:
    names = _Names(
        frozenset(draft.names("tests")),
        tuple(draft.names("tests")[:COMPARED]),
        (
            *(monitor_name(part.spec) for part in draft.monitors),
            *(["cooldown"] if "cooldown" in draft.tree.entries else []),
            *([FAULT] if "faults" in draft.tree.entries else []),
            *([] if self_metrics.MONITOR in draft.names("tests") else [self_metrics.MONITOR]),
        ),
        frozenset(
            part.spec.name for part in draft.tests if not part.spec.load.steered_by and _is_native(part.spec, folder)
        ),
        _faults_of(draft),
        operations,
        frozenset(monitor_name(part.spec) for part in draft.monitors if _records(part.spec, folder)),
    )
    for test in draft.tests:
        if test.spec.fail_when not in (None, NEVER):
            _check_one(test.spec.fail_when, test.node, "fail_when", names, problems)
        if test.spec.load.hold is not None:
            _check_hold(draft, test, test.spec.load.hold, names, problems)
        if test.spec.load.find is not None:
            _check_find(draft, test, test.spec.load.find, names, problems)
    for criterion in draft.criteria:
        if criterion.spec.check is not None:
            _check_one(criterion.spec.check, criterion.node, "check", names, problems)
            _check_during(criterion, names, problems)


def _faults_of(draft: Draft) -> tuple[str, ...]:
    """Return what the faults of a suite are called in checks."""
    node = draft.tree.entries.get("faults")
    items = node.items if isinstance(node, Sequence) else []
    names = (item.entries.get("name") if isinstance(item, Mapping) else None for item in items)
    return tuple(name.text if isinstance(name, Scalar) else str(place) for place, name in enumerate(names, 1))


def _check_hold(draft: Draft, test: BoundPart[TestSpec], hold: Hold, names: _Names, problems: Problems) -> None:
    """The quantity of a hold must exist, and its monitor must be sampled at least as often as the hold."""
    node = where(test.node, ("load", "hold", "metric"))
    try:
        known = tuple(sorted(names.tests)) if hold.special else names.few
        found = checks.resolve(hold.check, known, () if hold.special else names.monitors)
        if found.kind == "monitor" and found.name in names.native:
            raise ValueError(f"test {shown(found.name)} reports no {shown(found.metric)}; expected a figure of a check")
    except ValueError as problem:
        what, expected = parts(str(problem))
        problems.add(node, f"`metric`: {what}", expected)
        return
    every = _interval(draft, found)
    if every > hold.every:
        told = f"the monitor is sampled each {format_time(every)}, the hold looks each {format_time(hold.every)}"
        problems.add(
            node, told, f"`every: {format_time(every)}` or more in the hold", "or a monitor of shorter interval"
        )


def _check_find(draft: Draft, test: BoundPart[TestSpec], find: Find, names: _Names, problems: Problems) -> None:
    """Conditions of a search must refer to what exists, and a trial must be long enough for a sample of a monitor."""
    place = where(test.node, ("load", "find", "while"))
    try:
        spoken_of = [_known(each, names) for each in find.conditions]
        for each, found in zip(find.conditions, spoken_of, strict=True):
            if found.name == test.spec.name and found.metric in (FOUND, FOUND_LOW, FOUND_HIGH):
                raise ValueError(f"{each.text} is what the search finds; expected a figure of its trials")
    except ValueError as problem:
        what, expected = parts(str(problem))
        problems.add(place, f"`while`: {what}", expected)
        return
    every = max(_interval(draft, found) for found in spoken_of)
    if every > find.trial:
        told = f"the monitor is sampled each {format_time(every)}, a trial takes {format_time(find.trial)}"
        problems.add(place, told, f"`trial: {format_time(every)}` or more", "or a monitor of shorter interval")


def _interval(draft: Draft, found: Selected) -> int:
    """Return how far apart the samples of a monitor are, ns; 0 for a test."""
    if found.kind != "monitor":
        return 0
    return next((part.spec.every for part in draft.monitors if monitor_name(part.spec) == found.name), 0)


def _is_native(spec: TestSpec, folder: Path) -> bool:
    try:
        return instances.class_of_test(spec.use, folder).native()
    except PluginError:
        return False


def _records(spec: MonitorSpec, folder: Path) -> bool:
    try:
        return instances.class_of_monitor(spec.use, folder).records
    except PluginError:
        return False


def _check_one(text: str, node: Mapping, word: str, names: _Names, problems: Problems) -> None:
    try:
        _known(checks.parse(text), names, labelled=word == "check")
    except ValueError as problem:
        what, expected = parts(str(problem))
        problems.add(node.entries[word].at, f"`{word}`: {what}", expected)


def _check_during(criterion: BoundPart[CriterionSpec], names: _Names, problems: Problems) -> None:
    """`during` names tests, and narrows down what a monitor samples: a test has its own measured time anyway."""
    spec = criterion.spec
    for name in spec.during:
        if name not in names.tests:
            told = f"`during` of criterion {spec.id}: there is no test {shown(name)}"
            problems.add(criterion.node.entries["during"].at, told, near(name, sorted(names.tests)))
    try:
        selected = _known(checks.parse(spec.check or ""), names, labelled=True)
    except ValueError:
        return  # which is reported as that
    if spec.during and selected.kind == "test":
        told = f"`during` of criterion {spec.id}: its check is of the test {shown(selected.name)}"
        hint = "figures of a test are of its own measured time"
        problems.add(criterion.node.entries["during"].at, told, "a check of a monitor's metric", hint)


def _known(parsed: Check, names: _Names, *, labelled: bool = False) -> Selected:
    """Return what a parsed check selects. Raises ValueError if it does not exist.

    `labelled`: it is one of a criterion, which may ask for a part of a test.
    """
    tests = (parsed.test,) if parsed.test in names.tests else names.few
    selected = checks.resolve(parsed, tests, names.monitors, names.recording if labelled else None)
    if selected.kind == "monitor" and selected.name in names.native:
        told = f"test {shown(selected.name)} runs in the engine and reports no {shown(selected.metric)}"
        raise ValueError(f"{told}; expected a time like '3 s', or a field like {selected.name}.bytes")
    known = names.operations.get(selected.name) if selected.kind == "test" else None
    if known is not None and selected.operation not in {None, RECOVERY, *known}:
        told = f"test {shown(selected.name)} has no operation {shown(str(selected.operation))}"
        raise ValueError(f"{told}; expected {near(str(selected.operation), sorted(known))}, or a field like `response`")
    if selected.name == FAULT and FAULT not in names.tests:
        _check_fault_of(selected, names)
    return selected


def _check_fault_of(selected: Selected, names: _Names) -> None:
    """Raise ValueError when a check refers to a fault, or to a test of a fault, that does not exist."""
    labels = dict(selected.labels)
    if "fault" in labels and labels["fault"] not in names.faults:
        raise ValueError(f"there is no fault {shown(labels['fault'])}; expected {near(labels['fault'], names.faults)}")
    if "test" in labels and labels["test"] not in names.tests:
        raise ValueError(f"there is no test {shown(labels['test'])}; expected {near(labels['test'], names.tests)}")


@dataclass(frozen=True, slots=True)
class _Names:
    """What a check may select. `native`: tests that report no numbers."""

    tests: frozenset[str]
    few: tuple[str, ...]
    """Some of them, to compare a wrong name with."""
    monitors: tuple[str, ...]
    native: frozenset[str]
    faults: tuple[str, ...]
    """Their names, or their numbers from 1."""
    operations: dict[str, frozenset[str]]
    """Operations of native tests, as far as they are known."""
    recording: frozenset[str]
    """Monitors that record operations of servers."""
