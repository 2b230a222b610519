"""Which files of a crate use which others: what is found by name in their sources, tests left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_ASIDE = re.compile(r'r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\'\\])\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TESTS = re.compile(r"^\s*#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod (\w+)\s*(;|\{)", re.MULTILINE)
_CHILD = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?mod (\w+);", re.MULTILINE)
_USE = re.compile(r"^\s*(pub(?:\([a-z]+\))? )?use ([^;]+);", re.MULTILINE)
_PATH = re.compile(r"(?<![\w:])[a-z_]\w*(?:::\w+)+")

Module = tuple[str, ...]
"""A path of names from the root of its crate, which is `()`."""


@dataclass
class File:
    """One file of a crate."""

    module: Module
    code: str
    """Its text outside of `use`, without comments, strings and tests."""
    uses: list[str] = field(default_factory=list)
    """Paths that it imports, one a name, and that its code names."""
    hands_on: dict[str, str] = field(default_factory=dict)
    """Names that it re-exports: name to path."""


def circles(crate: Path) -> list[list[str]]:
    """The groups of files of a crate in which each uses each other, by way of others perhaps."""
    uses = graph(crate)
    below = {file: _reached(uses, file) for file in uses}
    found = {frozenset(other for other in below[file] if file in below[other]) for file in uses if file in below[file]}
    return sorted(sorted(group) for group in found)


def graph(crate: Path) -> dict[str, set[str]]:
    """Which files of a crate each of its files uses; names are paths below `src`."""
    files: dict[Module, File] = {}
    names: dict[Module, str] = {}
    _collect(crate / "src" / "lib.rs", (), files, names, crate / "src")
    return {
        names[module]: {names[used] for used in _used(file, files) if used != module} for module, file in files.items()
    }


def _reached(uses: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in uses[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def _collect(path: Path, module: Module, files: dict[Module, File], names: dict[Module, str], root: Path) -> None:
    text = _ASIDE.sub('""', path.read_text())
    tests = list(_TESTS.finditer(text))
    text = text[: next((found.start() for found in tests if found[2] == "{"), len(text))]
    for found in reversed([found for found in tests if found[2] == ";"]):
        text = text[: found.start()] + text[found.end() :]
    file = File(module, _USE.sub("", text))
    for public, tree in _USE.findall(text):
        for name, used in _leaves(re.sub(r"\s+", " ", tree).strip()):
            if public:
                file.hands_on[name] = used
            if not public or re.search(rf"\b{name}\b", file.code):
                file.uses.append(used)
    file.uses += _PATH.findall(file.code)
    files[module], names[module] = file, str(path.relative_to(root))
    folder = path.parent if path.name in ("lib.rs", "mod.rs") else path.with_suffix("")
    for child in _CHILD.findall(text):
        below = folder / f"{child}.rs"
        _collect(below if below.exists() else folder / child / "mod.rs", (*module, child), files, names, root)


def _leaves(tree: str) -> Iterator[tuple[str, str]]:
    """Name and path of all that one `use` imports."""
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = head.strip().partition(" as ")
        path = path.removesuffix("::self")
        yield alias or path.rsplit("::", 1)[-1], path
        return
    depth, begin = 0, 0
    inner = rest.rsplit("}", 1)[0] + ","
    for at, char in enumerate(inner):
        depth += (char == "{") - (char == "}")
        if char == "," and not depth:
            if part := inner[begin:at].strip():
                yield from _leaves(head.strip() + part)
            begin = at + 1


def _used(file: File, files: dict[Module, File]) -> Iterator[Module]:
    for path in file.uses:
        first, *rest = path.split("::")
        at = file.module
        match first:
            case "crate":
                at = ()
            case "self":
                pass
            case "super":
                at = at[:-1]
            case _ if (*at, first) in files:
                rest = [first, *rest]
            case _:
                continue
        if (found := _defined(at, rest, files)) is not None:
            yield found


def _defined(at: Module, rest: list[str], files: dict[Module, File]) -> Module | None:
    """The module in which what a path names is defined, re-exports followed."""
    while rest:
        name, *rest = rest
        if name == "super":
            at = at[:-1]
        elif (*at, name) in files:
            at = (*at, name)
        elif (handed := files[at].hands_on.get(name)) is not None:
            first, *more = handed.split("::")
            root: Module = () if first == "crate" else at[:-1] if first == "super" else at
            return _defined(root, more if first in ("crate", "self", "super") else [first, *more], files)
        else:
            break
    return at
