"""What `--set NAME=VALUE` changes: a variable of that name, else a word of the suite by its dotted path.

A path goes through mappings by word and through lists by the item's `name`, `id` or `use`, or its number from 0:
`targets.se.url`, `tests.copy.load.clients`, `monitors.0.every`. A url set for a target takes the place of its `launch`,
and of its kind where that is one of storage and speaks another protocol; and of all the words of targets that are
`like` it and are not set themselves.
"""

from __future__ import annotations

from collections.abc import Mapping as Values
from copy import deepcopy

from pileup.model.problem_codes import ProblemCode
from pileup.model.suite import Suite
from pileup.suite import kinds
from pileup.suite.formats.size_limits import UNPRINTABLE
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence, kind_of
from pileup.suite.formats.yaml_reader import read_yaml
from pileup.suite.problems import Position, Problems, near, shown

LONGEST_PATH = 20
"""Words of a path; the schema is less deep."""
NAMING = ("name", "id", "use")
MOST_NAMED = 20
"""Items of a list that a message names all, at most."""


def apply(tree: Mapping, values: Values[str, str], problems: Problems) -> list[str]:
    """Change the tree as the values say; what cannot be applied is a problem.

    Returns the targets whose `launch` gave way to a url.
    """
    for rank, (name, text) in enumerate(values.items(), 1):
        at = Position(rank, 1, 1, f"--set {name if name.isprintable() else shown(name)}")
        value = _read(text, at, problems)
        if value is not None:
            _set(tree, name, value, at, problems)
    _kinds(tree, values)
    moved = _move(tree, values)
    _follow(tree, values)
    return moved


def _move(tree: Mapping, values: Values[str, str]) -> list[str]:
    """Let a url that was set win over whatever says how pileup would start the target; return where it did."""
    moved = []
    for path in [name.split(".") for name in values]:
        node = _target(tree, path[1]) if len(path) == 3 and (path[0], path[2]) == ("targets", "url") else None
        if node is not None and node.entries.pop("launch", None) is not None:
            moved.append(path[1])
        if node is not None:
            node.entries.pop("disk", None)
    return moved


def _target(tree: Mapping, name: str) -> Mapping | None:
    targets = tree.entries.get("targets")
    found = targets.entries.get(name) if isinstance(targets, Mapping) else None
    return found if isinstance(found, Mapping) else None


def _kinds(tree: Mapping, values: Values[str, str]) -> None:
    """Let the kinds of targets follow the urls that were set, where they are not set themselves."""
    targets = tree.entries.get("targets")
    for name, node in targets.entries.items() if isinstance(targets, Mapping) else ():
        url = node.entries.get("url") if isinstance(node, Mapping) else None
        given = f"targets.{name}.url" in values and f"targets.{name}.kind" not in values
        if given and isinstance(node, Mapping) and isinstance(url, Scalar):
            kinds.follow(node, url)


def _follow(tree: Mapping, values: Values[str, str]) -> None:
    """Make targets that are `like` one which was given a url the same as that one: no private server replaces it."""
    targets = tree.entries.get("targets")
    if not isinstance(targets, Mapping):
        return
    paths = [name.split(".") for name in values if name.startswith("targets.")]
    moved, touched = {path[1] for path in paths if path[2:] == ["url"]}, {path[1] for path in paths}
    for name, node in targets.entries.items():
        like = node.entries.get("like") if isinstance(node, Mapping) else None
        other = targets.entries.get(like.text) if isinstance(like, Scalar) and like.text in moved else None
        if name not in touched and isinstance(other, Mapping):
            targets.entries[name] = deepcopy(other)


def _read(text: str, at: Position, problems: Problems) -> Node | None:
    """Read a value: flow lists, mappings and quoted texts are YAML, everything else is the text itself."""
    if UNPRINTABLE.search(text):
        problems.add(at, "a control character or a byte that is not UTF-8", "printable text")
        return None
    if text.strip()[:1] not in ("{", "[", '"', "'"):
        return Scalar(text.strip(), False, at)
    node = read_yaml(text.strip().encode("utf-8", "replace"), problems, at.origin, at.rank)
    if node is not None:
        _place(node, at)
    return node


def _place(node: Node, at: Position) -> None:
    """Give every part of a value the same position, since a command line has no lines."""
    node.at = at
    if isinstance(node, Sequence):
        for item in node.items:
            _place(item, at)
    if isinstance(node, Mapping):
        node.keys = dict.fromkeys(node.keys, at)
        for item in node.entries.values():
            _place(item, at)


def _set(tree: Mapping, name: str, value: Node, at: Position, problems: Problems) -> None:
    variables = tree.entries.get("variables")
    if isinstance(variables, Mapping) and name in variables.entries:
        _set_variable(variables, name, value, at, problems)
        return
    steps = name.split(".")
    if "" in steps or len(steps) > LONGEST_PATH:
        problems.add(at, f"{shown(name)} is not a path", "a variable, or words joined by dots like targets.se.url")
    elif len(steps) == 1 and name not in Suite.model_fields:
        known = list(variables.entries) if isinstance(variables, Mapping) else []
        path = _option(tree, name)
        expected = path or near(name, [*known, *Suite.model_fields], "a variable of the suite")
        hint = f"it is an option: --set {path}=…" if path else ""
        problems.add(at, f"there is no variable {shown(name)}", expected, hint, code=ProblemCode.UNKNOWN_VARIABLE)
    elif steps[0] == "targets" and len(steps) > 2 and not _has_target(tree, steps[1]):
        targets = tree.entries.get("targets")
        names = list(targets.entries) if isinstance(targets, Mapping) else []
        problems.unknown(at, "target", steps[1], names)
    else:
        _set_path(tree, steps, value, at, problems)


def _option(tree: Mapping, name: str) -> str:
    """Return the path of an option of that name in the suite, the common one first; empty when there is none."""
    tests = tree.entries.get("tests")
    items = tests.items if isinstance(tests, Sequence) else []
    for begin, node in [("", tree), *((f"tests.{_names(item)[0]}.", item) for item in items if _names(item))]:
        options = node.entries.get("options") if isinstance(node, Mapping) else None
        if isinstance(options, Mapping) and name in options.entries:
            return f"{begin}options.{name}"
    return ""


def _has_target(tree: Mapping, name: str) -> bool:
    """Whether a suite has a target of this name, or none at all, so that one can be made."""
    targets = tree.entries.get("targets")
    return not isinstance(targets, Mapping) or not targets.entries or name in targets.entries


def _set_variable(variables: Mapping, name: str, value: Node, at: Position, problems: Problems) -> None:
    if isinstance(value, Scalar):
        variables.entries[name] = Scalar(value.text, True, at)
    else:
        problems.add(
            at, f"{kind_of(value)} for a variable", "one value", "lists and mappings are set by their dotted path"
        )


def _set_path(tree: Mapping, steps: list[str], value: Node, at: Position, problems: Problems) -> None:
    node: Node = tree
    while steps:
        taken = _taken(node, steps, len(steps) if node is tree.entries.get("scan") else 1)
        step, steps = ".".join(steps[:taken]), steps[taken:]
        if not steps:
            _put(node, step, value, at, problems)
            return
        below = _enter(node, step, at, problems)
        if below is None:
            return
        node = below


def _taken(node: Node, steps: list[str], otherwise: int) -> int:
    """Return how many words of a path are the name of what is below: an axis of a scan has dots in its name."""
    known = node.entries if isinstance(node, Mapping) else {}
    return next((end for end in range(len(steps), 0, -1) if ".".join(steps[:end]) in known), otherwise)


def _enter(node: Node, step: str, at: Position, problems: Problems) -> Node | None:
    """Return what is below; a mapping is made where there is nothing yet."""
    if isinstance(node, Sequence):
        number = _item(node, step, at, problems)
        return None if number is None else node.items[number]
    if isinstance(node, Scalar):
        problems.add(
            at,
            f"{shown(step)} goes into text",
            "a path through mappings and lists",
            f"{shown(node.text)} has no words in it",
        )
        return None
    below = node.entries.get(step)
    if below is None or (isinstance(below, Scalar) and below.empty):
        below = Mapping({}, at)
        node.put(step, at, below)
    return below


def _put(node: Node, step: str, value: Node, at: Position, problems: Problems) -> None:
    if isinstance(node, Mapping):
        node.put(step, at, value)
    elif isinstance(node, Sequence):
        number = _item(node, step, at, problems)
        if number is not None:
            node.items[number] = value
    else:
        problems.add(
            at,
            f"{shown(step)} goes into text",
            "a path through mappings and lists",
            f"{shown(node.text)} has no words in it",
        )


def _item(node: Sequence, step: str, at: Position, problems: Problems) -> int | None:
    names = [_names(item) for item in node.items]
    found = [number for number, own in enumerate(names) if step in own]
    if len(found) > 1:
        problems.add(
            at, f"{len(found)} items are called {shown(step)}", "one", f"take its number: {', '.join(map(str, found))}"
        )
        return None
    if found:
        return found[0]
    if step.isdecimal() and len(step) < 10 and int(step) < len(node.items):
        return int(step)
    known = [name for own in names for name in own]
    number = f"a number below {len(node.items)}"
    problems.unknown(at, "item", step, known, number if len(known) > MOST_NAMED else "")
    return None


def _names(item: Node) -> list[str]:
    """Return what an item of a list goes by: the first of its name, id or use."""
    if not isinstance(item, Mapping):
        return []
    found = [item.entries.get(word) for word in NAMING]
    return next(([node.text] for node in found if isinstance(node, Scalar)), [])
