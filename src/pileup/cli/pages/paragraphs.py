"""The parts of a docstring: paragraphs, lists, tables and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

ITEM = re.compile(r"[-*] +")
RULE = re.compile(r"[|: -]+")


def cells(row: str) -> list[str]:
    """Return the cells of a row of a table."""
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]


@dataclass(frozen=True, slots=True)
class Part:
    """Lines that belong together: "text" (one), "list" (one an item), "table" (one a row, head first), "code"."""

    kind: str
    lines: tuple[str, ...]


def parts(text: str) -> Iterator[Part]:
    """Yield the parts of a text without markup; code keeps its lines, also the empty ones between."""
    for kind, lines in groupby(_kinds(text.strip("\n").splitlines()), key=lambda pair: pair[0]):
        found = [line for _, line in lines]
        if kind == "code":
            yield Part(kind, tuple(_dedented(found)))
        elif kind == "list":
            yield Part(kind, tuple(_joined(found)))
        elif kind == "table":
            yield Part(kind, tuple(line for line in found if not RULE.fullmatch(line)))
        elif kind == "text":
            yield Part(kind, (" ".join(line.strip() for line in found),))


def _kinds(lines: list[str]) -> Iterator[tuple[str, str]]:
    kind = ""
    for number, line in enumerate(lines):
        if not line.strip():
            kind = kind if kind == "code" and _code_goes_on(lines[number:]) else ""
        elif kind == "list" and line.startswith(" "):
            pass  # goes on with its item
        elif line.startswith("    "):
            kind = "code"
        else:
            kind = "table" if line.startswith("|") else "list" if ITEM.match(line) else "text"
        yield kind, line


def _code_goes_on(lines: list[str]) -> bool:
    following = next((line for line in lines if line.strip()), "")
    return following.startswith("    ")


def _dedented(lines: list[str]) -> Iterator[str]:
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return (line[margin:] for line in lines)


def _joined(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if ITEM.match(line):
            items.append(ITEM.sub("", line, count=1))
        else:
            items[-1] += " " + line.strip()
    return items
