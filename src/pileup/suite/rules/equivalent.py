"""Rules for `equivalent`: each group names tests of the suite that report their answers."""

from __future__ import annotations

from pathlib import Path

from pileup.model.errors import PluginError
from pileup.suite import instances
from pileup.suite.bind import Draft
from pileup.suite.formats.tree import Scalar, Sequence
from pileup.suite.problems import Problems, shown


def check_equivalent(draft: Draft, folder: Path, problems: Problems) -> None:
    """Add a problem for each name that is of no test, is given twice in its group, or is of a test without answers."""
    node = draft.tree.entries.get("equivalent")
    for group in node.items if isinstance(node, Sequence) else []:
        names = [item for item in group.items if isinstance(item, Scalar)] if isinstance(group, Sequence) else []
        for place, item in enumerate(names):
            if item.text in [each.text for each in names[:place]]:
                problems.add(item.at, f"{shown(item.text)} is given twice in a group", "tests that differ")
            else:
                _check_name(item, draft, folder, problems)


def _check_name(item: Scalar, draft: Draft, folder: Path, problems: Problems) -> None:
    known = draft.names("tests")
    if item.text not in known:
        problems.unknown(item.at, "test", item.text, known)
        return
    test = next((part.spec for part in draft.tests if part.spec.name == item.text), None)
    try:
        silent = test is not None and instances.class_of_test(test.use, folder).native()
    except PluginError:  # reported where the test is checked
        return
    if silent and test is not None:
        told = f"test {shown(item.text)} ({test.use}) runs in the engine and reports no answers"
        hint = "tests that do, such as sql.query, or your own with self.answer(…)"
        problems.add(item.at, told, hint, "compare what it reads with what is known of it: `verify`, `checksum`")
