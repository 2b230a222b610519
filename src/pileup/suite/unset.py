"""What does not apply if a target has the url of a running server.

Axes of a scan over settings of its `launch`, and tests between it and a private server that stands `beside` it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeGuard

from pileup.model import check as checks
from pileup.model.not_covered import Uncovered
from pileup.suite import instances
from pileup.suite.bind import plain
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence

REMARK = "remark"


def leave_out(tree: Mapping, given_away: Collection[str], folder: Path) -> tuple[Uncovered, ...]:
    """Take the axes out of the tree that set what `launch` sets, and the tests beside a url; return them.

    `given_away` are targets whose `launch` gave way to a url. A criterion at points of such an axis, or about such a
    test, is not covered.
    """
    return (*_without_axes(tree, given_away, folder), *_without_tests(tree))


def _without_axes(tree: Mapping, given_away: Collection[str], folder: Path) -> tuple[Uncovered, ...]:
    scan = tree.entries.get("scan")
    found = [
        Uncovered("setting", name, f"pileup did not start {owner}") for name, owner in _axes(tree, given_away, folder)
    ]
    for each in found:
        if isinstance(scan, Mapping):
            _take(scan, each.name)
        for criterion in _criteria(tree):
            if any(each.name in at.entries for at in _points(criterion.entries.get("at"))):
                _uncover(criterion, f"{each.name} was not set: {each.reason}")
    if found and isinstance(scan, Mapping) and not scan.entries:
        _take(tree, "scan")
    return tuple(found)


def _without_tests(tree: Mapping) -> tuple[Uncovered, ...]:
    """Take the tests out that use a launched target `beside` one with a url, and those that come after them."""
    reasons = dict(_left_alone(tree))
    tests = tree.entries.get("tests")
    if not reasons or not isinstance(tests, Sequence):
        return ()
    lost: dict[str, str] = {}
    for _ in tests.items:  # a test may come before the one that it needs
        for test in filter(_is_mapping, tests.items):
            found = [reasons[each] for each in _texts(test.entries.get("target")) if each in reasons]
            needed = [each for word in ("after", "with") for each in _texts(test.entries.get(word))]
            found += [lost[each] for each in needed if each in lost]
            if found:
                lost.setdefault(_text(test.entries.get("name")), found[0])
    tests.items[:] = [
        each for each in tests.items if not _is_mapping(each) or _text(each.entries.get("name")) not in lost
    ]
    for criterion in _criteria(tree):
        if (name := _test_of(criterion)) in lost:
            _uncover(criterion, lost[name])
            _take(criterion, "check")
    return tuple(Uncovered("test", name, reason) for name, reason in lost.items())


def _left_alone(tree: Mapping) -> Iterator[tuple[str, str]]:
    """Yield launched targets that stand beside one with a url, and why the tests on them are left out."""
    targets = tree.entries.get("targets")
    nodes = targets.entries if isinstance(targets, Mapping) else {}
    for name, node in nodes.items():
        other = _text(node.entries.get("beside")) if isinstance(node, Mapping) else ""
        beside = nodes.get(other)
        if (
            isinstance(node, Mapping)
            and isinstance(beside, Mapping)
            and "url" in beside.entries
            and "url" not in node.entries
        ):
            yield name, f"{other} has a url, and {name} has none"


def _test_of(criterion: Mapping) -> str:
    """Return what a criterion is about, empty where that cannot be read: reported where checks are."""
    try:
        return checks.parse(_text(criterion.entries.get("check"))).path[0]
    except ValueError:
        return ""


def _texts(node: Node | None) -> list[str]:
    """Return the texts of a scalar, a list or a mapping."""
    below = node.items if isinstance(node, Sequence) else node.entries.values() if isinstance(node, Mapping) else [node]
    return [each.text for each in below if isinstance(each, Scalar)]


def _text(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _is_mapping(node: Node) -> TypeGuard[Mapping]:
    return isinstance(node, Mapping)


def _axes(tree: Mapping, given_away: Collection[str], folder: Path) -> Iterator[tuple[str, str]]:
    scan, targets = tree.entries.get("scan"), tree.entries.get("targets")
    for name in list(scan.entries) if isinstance(scan, Mapping) else ():
        owner, _, word = name.partition(".")
        node = targets.entries.get(owner) if isinstance(targets, Mapping) else None
        if owner in given_away and isinstance(node, Mapping) and word not in _own(node, folder):
            yield name, owner


def _own(node: Mapping, folder: Path) -> set[str]:
    """Return the settings that a running server takes: by commands of the suite, or by its kind."""
    given = {name: node.entries.get(name) for name in ("settings", "options")}
    maps = {name: each if isinstance(each, Mapping) else Mapping({}, node.at) for name, each in given.items()}
    kind, own = node.entries.get("kind"), set(maps["settings"].entries)
    with suppress(Exception):  # reported where its kind is checked
        text = kind.text if isinstance(kind, Scalar) else ""
        own |= set(instances.class_of_target(text, folder).settings_of(plain(maps["options"])))
    return own


def _criteria(tree: Mapping) -> list[Mapping]:
    node = tree.entries.get("criteria")
    return [each for each in node.items if isinstance(each, Mapping)] if isinstance(node, Sequence) else []


def _points(at: Node | None) -> list[Mapping]:
    items = at.items if isinstance(at, Sequence) else [at]
    return [each for each in items if isinstance(each, Mapping)]


def _uncover(criterion: Mapping, why: str) -> None:
    before = criterion.entries.get(REMARK)
    told = f"{before.text}; {why}" if isinstance(before, Scalar) else why
    for word, text in (("coverage", "none"), (REMARK, told)):
        criterion.put(word, criterion.at, Scalar(text, False, criterion.at))
    _take(criterion, "at")


def _take(node: Mapping, word: str) -> None:
    node.entries.pop(word, None)
    node.keys.pop(word, None)
