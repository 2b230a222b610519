"""Rules about `until`: the figure is one of a test that each repeat runs, and there are repeats to spare."""

from __future__ import annotations

from pileup.model import check as checks
from pileup.model.precision import Until
from pileup.model.suite import Suite
from pileup.suite.bind import Draft
from pileup.suite.formats.tree import Mapping, where
from pileup.suite.problems import Problems, parts, shown


def check_until(draft: Draft, problems: Problems) -> None:
    """Add a problem for each word of `until` that cannot be followed."""
    suite, node = draft.suite, draft.tree.entries.get("until")
    if suite is None or suite.until is None or not isinstance(node, Mapping):
        return
    try:
        _check_figure(suite, suite.until)
    except ValueError as problem:
        what, expected = parts(str(problem))
        problems.add(where(node, ("figure",)), f"`figure`: {what}", expected)
    if suite.repeat <= suite.until.at_least:
        told = f"`repeat` is {suite.repeat}, and `until` asks for {suite.until.at_least} repeats at least"
        problems.add(node.at, told, f"`repeat: {2 * suite.until.at_least}` or more", "`repeat` is the maximum")
    if suite.loop > 1:
        problems.add(node.at, f"`until` is combined with `loop: {suite.loop}`", "one of the two")


def _check_figure(suite: Suite, until: Until) -> None:
    names = tuple(test.name for test in suite.tests)
    found = checks.resolve(until.check, names, ())
    test = suite.test(found.name)
    if test.scope != "case" and not test.with_:
        told = f"test {shown(test.name)} runs once for each {test.scope}"
        raise ValueError(f"{told}; expected a figure of a test with `scope: case`, which every repeat runs")
