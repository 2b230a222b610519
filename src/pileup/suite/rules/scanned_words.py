"""Rules about axes over words of tests: how many places press them, and the client software that they have."""

from __future__ import annotations

from pydantic import ValidationError

from pileup.model.suite import TestSpec
from pileup.model.units import counted
from pileup.plugin import Target
from pileup.suite import instances
from pileup.suite.bind import BoundPart, Draft, plain
from pileup.suite.formats.tree import Mapping, Scalar, Sequence, where
from pileup.suite.problem_texts import report
from pileup.suite.problems import Position, Problems, near, shown
from pileup.suite.rules.plugin_options import Plugins
from pileup.suite.scan import ENVIRONMENT, PLACES, Axis, reaches


def check_words(axis: Axis, node: Sequence, at: Position, draft: Draft, plugins: Plugins) -> None:
    """Add every problem of an axis over a word of tests; `at` is where its name is."""
    for item in node.items:
        if isinstance(item, Scalar) and item.empty and axis.kind == ENVIRONMENT:
            continue  # none
        one = Mapping({axis.word: item}, item.at, {axis.word: item.at})
        try:
            test = TestSpec.model_validate({"name": "a", "use": "a", axis.word: plain(item)})
        except ValidationError as problem:
            report(problem, one, TestSpec, plugins.problems)
        else:
            _check_places(test.places, item.at, draft, plugins.problems)
    reached = [test for test in draft.tests if reaches(axis, test.spec)]
    if not reached:
        told = f"{shown(axis.name)} is for no test: each says its own `{axis.word}`"
        plugins.problems.add(at, told, f"a test without `{axis.word}`")
    elif (
        axis.kind == ENVIRONMENT and not _clients(draft, plugins) and all(_is_native(each, plugins) for each in reached)
    ):
        told = "the scan varies `environment`, and all tests are run by the engine"
        plugins.problems.add(at, told, "a test in Python, or one that starts a program")


def check_places(test: BoundPart[TestSpec], draft: Draft, problems: Problems) -> None:
    """Add a problem where a test asks for more places than the fleet has."""
    if "places" not in test.left_out:
        _check_places(test.spec.places, where(test.node, (PLACES,)), draft, problems)


def _check_places(wanted: int | frozenset[str] | None, at: Position, draft: Draft, problems: Problems) -> None:
    names = draft.suite.places.names if draft.suite else ()
    if not names or wanted is None:
        return
    if isinstance(wanted, int):
        if wanted > len(names):
            told = f"`places` is {shown(str(wanted))}, and the fleet has {counted(len(names), 'place')}"
            problems.add(at, told, f"at most {len(names)}", f"`places: processes:{wanted}` in the suite, or --fleet")
        return
    known = {*names, *map(str, range(1, len(names) + 1))}
    for name in sorted(wanted - known):
        expected = near(name, names, f"a number up to {len(names)}, or a name")
        problems.add(at, f"the fleet has no place {shown(name)}", expected, "`places` in the suite, or --fleet")


def _clients(draft: Draft, plugins: Plugins) -> bool:
    """Whether some target is of a kind that may have other clients than the engine's: these take an environment."""
    for target in draft.targets.values():
        try:
            cls = instances.class_of_target(target.spec.kind, plugins.folder)
        except Exception:  # reported where its kind is checked
            return True
        if cls.program_client is not Target.program_client:
            return True
    return False


def _is_native(test: BoundPart[TestSpec], plugins: Plugins) -> bool:
    try:
        return instances.class_of_test(test.spec.use, plugins.folder).native()
    except Exception:  # reported where the test is checked
        return False
