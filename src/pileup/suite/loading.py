"""From a suite file to a plan, with every problem found on the way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from collections.abc import Mapping as Values
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from pileup.model.collecting import uncollected
from pileup.model.hidden import HIDDEN
from pileup.model.not_covered import Uncovered
from pileup.model.plan import Plan
from pileup.model.problem_codes import ProblemCode
from pileup.model.suite import Suite, TestSpec
from pileup.suite import instances, kinds, overrides
from pileup.suite.bind import bind
from pileup.suite.coupling import Groups, couple
from pileup.suite.formats.reading import read_file, read_tree
from pileup.suite.formats.tree import where
from pileup.suite.plan import check_limits, make_plan
from pileup.suite.problems import Problems, TooManyProblemsError, parts, shown
from pileup.suite.replays import Replays
from pileup.suite.rules.attached import attach, blind, uncovered
from pileup.suite.rules.references import check, monitor_name
from pileup.suite.scan import aims, axes_of
from pileup.suite.schema import suite_schema
from pileup.suite.secrets import Secrets, secret_options
from pileup.suite.servers import check_servers
from pileup.suite.source_lines import shown_lines
from pileup.suite.static_plugins import without_import
from pileup.suite.unset import leave_out
from pileup.suite.variants import Key, ScannedTrees, Variants, fill

__all__ = ["digest_of", "load", "suite_schema"]

SCANNED = "an axis that is not a secret, e.g. the name of a file that holds one"


def load(
    path: Path,
    values: Values[str, str] | None = None,
    records: bool = True,
    *,
    imports: bool = True,
    servers: bool = True,
) -> Plan:
    """Return the plan of the suite in a file, changed by what `--set` gave (name to value).

    Without `records` the records that it replays are not read: such a plan must not be run. Without `imports` no Python
    file that it names is imported, and their options are not checked. Without `servers` its targets need none: such a
    plan is for virtual time. Raises SuiteError with every problem found.
    """
    problems, plan = Problems(str(path)), None
    with uncollected(), suppress(TooManyProblemsError):
        plan = _load(path, values or {}, problems, records, imports=imports, servers=servers)
    if problems or plan is None:
        raise problems.error()
    return plan


def _load(
    path: Path, values: Values[str, str], problems: Problems, records: bool, *, imports: bool, servers: bool
) -> Plan | None:
    data = read_file(path, problems)
    if data is None:
        return None
    problems.lines = lambda: shown_lines(data, None, path.parent)
    tree = read_tree(data, path.suffix, problems)
    if tree is None:
        return None
    moved = overrides.apply(tree, values, problems.of(ProblemCode.SET))
    together = couple(tree, problems.of(ProblemCode.SCAN))
    scanned = fill(tree, together, values, moved, problems.of(ProblemCode.VARIABLE))
    for each in scanned.trees:
        kinds.complete(each.tree)
    filled = scanned.trees[0].tree if scanned.trees else None
    problems.lines = lambda: shown_lines(data, filled, path.absolute().parent)
    given = _Given(path, data, values, moved, together, servers)
    with nullcontext() if imports else without_import(scanned.trees[0].tree):
        return _planned(given, scanned, problems, Replays(path.absolute().parent, records))


@dataclass(frozen=True, slots=True)
class _Given:
    """The file, its content, and the values that were set."""

    path: Path
    data: bytes
    values: Values[str, str]
    moved: Collection[str]
    """Targets that a url which was set keeps from being launched."""
    together: Groups
    """Axes of the scan that are varied together."""
    servers: bool
    """Whether targets that are launched need a server."""


def _planned(given: _Given, scanned: ScannedTrees, problems: Problems, replays: Replays) -> Plan | None:
    folder = given.path.absolute().parent
    unset: tuple[Uncovered, ...] = ()
    suites: dict[Key, Suite] = {}
    for each in scanned.trees:
        unset = leave_out(each.tree, given.moved, folder)
        draft = bind(each.tree, problems)
        draft.together, draft.varied = given.together, scanned.uses
        check(draft, folder, problems, replays)
        if draft.suite is not None:
            suites[each.key] = draft.suite
    if problems or not suites:
        return None
    tree = scanned.trees[0].tree
    secrets = Secrets(tree, secret_options(tree, folder))
    for at in (*secrets.scanned, *secrets.places_of(scanned.names)):
        problems.add(
            at,
            "a secret is a value of a scan, and the points of a scan are in the record",
            SCANNED,
            code=ProblemCode.SECRET,
        )
    variants = Variants(scanned.names, {key: _complete(each, folder, secrets) for key, each in suites.items()})
    suite = next(iter(variants.suites.values()))
    lost = (*uncovered(suite, folder, given.moved), *unset, *scanned.uncovered)
    for place, name, why in blind(suite, lost):
        told = f"the load of test {shown(name)} is steered by a monitor that cannot measure here"
        problems.add(where(tree, ("tests", place, "load")), told, "a monitor that measures", why, code=ProblemCode.LOAD)
    if problems:
        return None
    empty = Plan(
        suite,
        (),
        str(given.path),
        secrets.hide(given.data.decode("utf-8-sig")),
        _digest(given.data, given.values),
        str(folder),
        secrets.hide_values(given.values),
        together=tuple(
            group for names in given.together if (group := tuple(each for each in names if each in suite.scan))
        ),
        uncovered=lost,
    )
    try:
        plan = make_plan(empty, replays, variants)
    except ValueError as problem:  # problems that no single axis of the scan shows
        problems.add(where(tree, ("scan",), key=True), *parts(str(problem)), code=ProblemCode.SCAN)
        return None
    check_limits(plan, tree, problems.of(ProblemCode.OVER_LIMIT))
    if given.servers:
        check_servers(plan, tree, problems.of(ProblemCode.ONLY_SIMULATED))
    return plan


def _complete(suite: Suite, folder: Path, secrets: Secrets) -> Suite:
    """Write out what may be left out: the target when there is just one, and the names of monitors.

    Variables were filled in; secrets among them are not needed any more.
    """
    named = (each.model_copy(update={"name": monitor_name(each)}) for each in suite.monitors)
    monitors = tuple(attach(each, suite, folder) for each in named)
    tests = tuple(instances.in_layers(suite, _aimed(each, suite, folder), folder) for each in suite.tests)
    variables = {name: HIDDEN if name in secrets.variables else value for name, value in suite.variables.items()}
    return suite.model_copy(update={"tests": tests, "monitors": monitors, "variables": variables})


def _aimed(test: TestSpec, suite: Suite, folder: Path) -> TestSpec:
    if test.target is not None or not instances.class_of_test(test.use, folder).needs:
        return test
    if any(aims(axis, test) for axis in axes_of(suite)):
        return test
    return test.model_copy(update={instances.AIM: next(iter(suite.targets))})


def digest_of(path: Path, values: Values[str, str]) -> str:
    """Return the digest of a suite in a file with values set; nothing of it is executed. Empty without a file."""
    data = read_file(path, Problems(str(path))) if path.is_file() else None
    return "" if data is None else _digest(data, values)


def _digest(data: bytes, values: Values[str, str]) -> str:
    """SHA-256 of the file's bytes and the values set."""
    given = json.dumps(dict(sorted(values.items()))).encode()
    return hashlib.sha256(data + b"\0" + given).hexdigest()
