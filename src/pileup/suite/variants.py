"""A suite at each combination of the values of the variables that its scan varies.

Each is the file read with those values, so that a value keeps to all that its use asks for. Only words that may differ
from point to point may use such a variable.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Mapping as Values
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pileup.model.not_covered import Uncovered
from pileup.model.suite import Suite
from pileup.suite.bind import plain
from pileup.suite.coupling import Groups
from pileup.suite.formats.tree import Mapping, Node, Path, Scalar, Sequence, child, copied, kind_of, walk, where
from pileup.suite.problems import Position, Problems, TooManyProblemsError, shown
from pileup.suite.scan import text_of
from pileup.suite.variables import Variables

MOST = 200
"""Combinations of values of variables: the suite is read for each of them."""
OF_TESTS = ("options", "load", "timeout", "fail_when", "target", "environment", "places")
USES = f"a use in {', '.join(f'`{word}`' for word in OF_TESTS)} of a test, `options`, `environment` or `launch`"
Key = tuple[str, ...]
"""Values of the scanned variables, as texts."""


@dataclass(frozen=True, slots=True)
class TreeAt:
    """The tree of a suite, filled in, at values of its scanned variables."""

    key: Key
    tree: Mapping


@dataclass(frozen=True, slots=True)
class ScannedTrees:
    """All trees of a suite; one of no values where the scan varies no variable."""

    names: tuple[str, ...]
    """The scanned variables."""
    trees: tuple[TreeAt, ...]
    uses: frozenset[str] = frozenset()
    """Names of the tests whose options or load use them; `options` for those of the suite."""
    uncovered: tuple[Uncovered, ...] = ()
    """Axes that nothing uses any more, since pileup does not start the server that did."""


@dataclass(frozen=True, slots=True)
class Variants:
    """The suite at each combination of the values of its scanned variables."""

    names: tuple[str, ...] = ()
    suites: Values[Key, Suite] = field(default_factory=dict)

    def at(self, point: Values[str, str], otherwise: Suite) -> Suite:
        """Return the suite at a point, given as texts."""
        return self.suites[tuple(point[name] for name in self.names)] if self.names else otherwise

    def launch_settings(self) -> set[tuple[str, str]]:
        """Return (target, word) of what of `launch` differs between the variants."""
        found: set[tuple[str, str]] = set()
        suites = list(self.suites.values())
        for other in suites[1:]:
            for name, target in suites[0].targets.items():
                mine, theirs = target.launch or {}, other.targets[name].launch or {}
                found.update((name, word) for word in mine if theirs.get(word) != mine[word])
        return found


def fill(
    tree: Mapping, together: Groups, given: Values[str, str], moved: Collection[str], problems: Problems
) -> ScannedTrees:
    """Fill the variables of a suite in, for each combination of the values of those that its scan varies.

    `given` is what --set gave, `moved` are targets that a url which was set keeps from being launched.
    """
    names = tuple(_scanned(tree))
    if not names:
        Variables(tree, problems).fill(tree)
        return ScannedTrees((), (TreeAt((), tree),))
    _check_given(names, given, problems)
    used = _check_uses(tree, names, problems)
    unused = [name for name in names if name not in {each for uses in used.values() for each in uses}]
    uncovered = _leave_out(tree, unused, moved, problems)
    names = tuple(_scanned(tree))
    tests = frozenset(str(path[1] if path[0] == "tests" else path[0]) for path in used)
    return ScannedTrees(names, tuple(_trees(tree, names, together, problems)), _names_of(tree, tests), uncovered)


def _scanned(tree: Mapping) -> Iterator[str]:
    """Yield the variables that the scan varies."""
    scan, variables = tree.entries.get("scan"), tree.entries.get("variables")
    for name, node in scan.entries.items() if isinstance(scan, Mapping) else ():
        if isinstance(variables, Mapping) and name in variables.entries and isinstance(node, Sequence) and node.items:
            yield name


def _check_given(names: Iterable[str], given: Values[str, str], problems: Problems) -> None:
    for rank, (name, value) in enumerate(given.items(), 1):
        if name in names:
            at = Position(rank, 1, 1, f"--set {name}")
            hint = f"--set scan.{name}=[{value}]"
            problems.add(at, f"the scan varies the variable {shown(name)}", "its values in `scan`", hint)


def _check_uses(tree: Mapping, names: Collection[str], problems: Problems) -> dict[Path, frozenset[str]]:
    """Return where scanned variables are used, with their names; a use where nothing may vary is a problem."""
    probe = copied(tree)
    for name in names:
        _set(probe, name, Scalar("1", True, probe.at))
    with suppress(TooManyProblemsError):
        Variables(probe, Problems("")).fill(probe)
    found: dict[Path, frozenset[str]] = {}
    for path, scalar in walk(probe):
        used = scalar.variables & frozenset(names)
        if not used or path[0] == "variables":
            continue
        found[path] = used
        if not _may_vary(path):
            problems.add(scalar.at, f"the scan varies ${min(used)}, which is used here", USES)
            problems.spoil(scalar.at)
    return found


def _may_vary(path: Path) -> bool:
    """Whether what is at a path may differ from point to point."""
    match path:
        case ("tests", _, word, *_):
            return word in OF_TESTS
        case ("targets", _, "launch", *_):
            return True
    return path[0] in ("options", "environment")


def _leave_out(
    tree: Mapping, unused: Iterable[str], moved: Collection[str], problems: Problems
) -> tuple[Uncovered, ...]:
    """Take the axes out that nothing uses; without a server that pileup would have started it is a problem."""
    scan, found = tree.entries["scan"], []
    for name in unused:
        if not isinstance(scan, Mapping):
            break
        if moved:
            found.append(Uncovered("setting", name, f"pileup did not start {', '.join(sorted(moved))}"))
            del scan.entries[name]
        else:
            told = f"the scan varies the variable {shown(name)}, which nothing uses"
            problems.add(scan.keys[name], told, f"${name} in a test, or no such axis")
    return tuple(found)


def _names_of(tree: Mapping, found: Collection[str]) -> frozenset[str]:
    """Return tests by their names instead of their numbers."""
    tests = tree.entries.get("tests")
    items = tests.items if isinstance(tests, Sequence) else []
    names = {
        str(number): name.text
        for number, item in enumerate(items)
        if isinstance(item, Mapping) and isinstance(name := item.entries.get("name"), Scalar)
    }
    return frozenset(names.get(each, each) for each in found)


def _trees(tree: Mapping, names: tuple[str, ...], together: Groups, problems: Problems) -> Iterator[TreeAt]:
    """Yield a tree for each combination of the values of variables."""
    axes = {name: _items(tree, name) for name in names}
    bad = set(_check_values(axes, problems))
    rows = list(_rows(axes, together, where(tree, ("scan",)), problems))
    good = [row for row in rows if bad.isdisjoint(row.items())]
    seen: set[Key] = set()
    for row in good or rows[:1]:
        one = _at(tree, {name: axes[name][place] for name, place in row.items()}, problems)
        key = tuple(text_of(plain(_items(one, name)[place])) for name, place in row.items())
        if key not in seen:
            seen.add(key)
            yield TreeAt(key, one)


def _rows(
    axes: Values[str, list[Node]], together: Groups, at: Position, problems: Problems
) -> Iterator[dict[str, int]]:
    """Yield for each combination which value each variable has; those of a group go on as one."""
    group = {name: number for number, names in enumerate(together) for name in names}
    lengths = {group.get(name, name): len(items) for name, items in axes.items()}
    count = math.prod(lengths.values())
    if count > MOST:
        problems.add(at, f"{count} combinations of values of variables", f"at most {MOST}", "vary less at a time")
    for places in itertools.islice(itertools.product(*map(range, lengths.values())), MOST if count <= MOST else 1):
        row = dict(zip(lengths, places, strict=True))
        yield {name: row[group.get(name, name)] for name in axes}


def _items(tree: Mapping, name: str) -> list[Node]:
    """Return the values of an axis."""
    node = child(tree.entries.get("scan"), name)
    return node.items if isinstance(node, Sequence) else []


def _check_values(axes: Values[str, list[Node]], problems: Problems) -> Iterator[tuple[str, int]]:
    """Yield problems for values of variables that are not texts."""
    for name, items in axes.items():
        for place, item in enumerate(items):
            if not isinstance(item, Scalar) or item.empty:
                problems.add(item.at, f"{kind_of(item)} for the variable {shown(name)}", "text")
                yield name, place


def _at(tree: Mapping, values: Values[str, Node], problems: Problems) -> Mapping:
    """Return a copy of the tree, filled in with these values; what is made from one of them is where that does."""
    one = copied(tree)
    for name, value in values.items():
        _set(one, name, replace(value) if isinstance(value, Scalar) else value)
    Variables(one, problems).fill(one)
    for path, scalar in walk(one):
        used = scalar.variables & values.keys()
        if len(used) == 1 and (path[0] == "variables" or _may_vary(path)):
            scalar.at = values[min(used)].at
    return one


def _set(tree: Mapping, name: str, value: Node) -> None:
    variables = tree.entries["variables"]
    if isinstance(variables, Mapping):
        variables.entries[name] = value
