"""Axes of a scan over settings of `launch`: they do not apply if the target has the url of a running server."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from pileup.model.not_covered import Uncovered
from pileup.suite import instances
from pileup.suite.bind import plain
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence

REMARK = "remark"


def leave_out(tree: Mapping, given_away: Collection[str], folder: Path) -> tuple[Uncovered, ...]:
    """Take the axes out of the tree that set what `launch` sets, and return them.

    `given_away` are targets whose `launch` gave way to a url. A criterion at points of such an axis is not covered.
    """
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
