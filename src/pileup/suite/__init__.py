"""From a suite file to a plan: reading, variables, schema, rules, order. All faults are told at once."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Iterator
from collections.abc import Mapping as Values
from contextlib import contextmanager, suppress
from pathlib import Path

from pileup.model.plan import Plan
from pileup.model.suite import Suite, TestSpec
from pileup.suite import instances, overrides
from pileup.suite.attached import attach, blind, uncovered
from pileup.suite.bind import bind
from pileup.suite.check import check, monitor_name
from pileup.suite.faults import Faults, TooManyFaultsError, parts, shown
from pileup.suite.plan import check_limits, make_plan
from pileup.suite.reading import read_file, read_tree
from pileup.suite.replays import Replays
from pileup.suite.scan import aims, axes_of
from pileup.suite.schema import suite_schema
from pileup.suite.secrets import HIDDEN, Secrets
from pileup.suite.tree import where
from pileup.suite.variables import Variables

__all__ = ["load", "suite_schema"]


def load(path: Path, values: Values[str, str] | None = None, records: bool = True) -> Plan:
    """Return the plan of the suite in a file, changed by what `--set` gave (name to value).

    Without `records` those that it replays are not looked at: such a plan is not to be pressed.
    Raises SuiteError with every fault found.
    """
    faults, plan = Faults(str(path)), None
    with _uncollected(), suppress(TooManyFaultsError):
        plan = _load(path, values or {}, faults, records)
    if faults or plan is None:
        raise faults.error()
    return plan


@contextmanager
def _uncollected() -> Iterator[None]:
    """Let the garbage collector rest: a large tree lives on, and looking through it time and again is half the work."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _load(path: Path, values: Values[str, str], faults: Faults, records: bool) -> Plan | None:
    data = read_file(path, faults)
    tree = None if data is None else read_tree(data, path.suffix, faults)
    if data is None or tree is None:
        return None
    given_away = overrides.apply(tree, values, faults)
    Variables(tree, faults).fill(tree)
    secrets = Secrets(tree)
    folder = path.absolute().parent
    draft = bind(tree, faults)
    replays = Replays(folder, records)
    check(draft, folder, faults, replays)
    if faults or draft.suite is None:
        return None
    text = secrets.hide(data.decode("utf-8-sig"))
    suite = _complete(draft.suite, folder, secrets)
    lost = uncovered(suite, folder, given_away)
    for place, name, why in blind(suite, lost):
        told = f"the load of test {shown(name)} is steered by what is not there"
        faults.add(where(tree, ("tests", place, "load")), told, "a monitor that measures", why)
    hidden = secrets.hide_values(values)
    empty = Plan(suite, (), str(path), text, _digest(data, values), str(folder), hidden, uncovered=lost)
    try:
        plan = make_plan(empty, replays)
    except ValueError as problem:  # what no axis of the scan alone shows
        faults.add(where(tree, ("scan",), key=True), *parts(str(problem)))
        return None
    check_limits(plan, tree, faults)
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
    return test.model_copy(update={"target": next(iter(suite.targets))})


def _digest(data: bytes, values: Values[str, str]) -> str:
    """SHA-256 of the file's bytes and the values set."""
    given = json.dumps(dict(sorted(values.items()))).encode()
    return hashlib.sha256(data + b"\0" + given).hexdigest()
