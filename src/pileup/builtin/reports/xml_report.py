"""The report for programs that read XML: everything that the JSON report has."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pileup.builtin.reports.markup import clean
from pileup.plugin import Report

if TYPE_CHECKING:
    from pileup.plugin.results import RunResults

NAME = re.compile(r"[a-z][a-z0-9_]*")
FREE = {"labels", "versions", "values", "scan", "point", "quantiles", "fates", "states", "claims"}
"""Mappings whose keys are chosen by users or numbers: entries, whatever the keys look like."""
SINGULAR = {"series": "metric", "criteria": "criterion", "bad": "submission"}
PLAIN = (str, int, float, bool)
NUMBERS = (int, float)
SPECIAL = re.compile(r"[&<>\"\t\n\r]")
ESCAPED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


class XmlReport(Report):
    """The report for programs that read XML: everything that `results.json` has, under the same names.

    A mapping is an element, a number or a one-line text in it an attribute; what is not known is left out. A list is an
    element that holds one element per member, named in the singular (`cases` holds `case`); a list of numbers is text
    with spaces between them, `NaN` where there is none; the members of a list in a list are `item`. Where users choose
    the names (`labels`, `point`), each is an `<entry name="…" value="…"/>`. A text of several lines is an element of
    its own. Times are nanoseconds since the epoch, durations nanoseconds, rates per second, sizes bytes.
    """

    name = "xml"
    file_name = "results.xml"
    by_default = True

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the XML, UTF-8. `outputs` stay files of the run folder, named by path."""
        from pileup.plugin.results import to_json  # noqa: PLC0415  `pileup list` imports this module

        lines = ['<?xml version="1.0" encoding="utf-8"?>']
        _mapping(lines, 0, "pileup", to_json(results))
        return ("\n".join(lines) + "\n").encode()


# Written as lines, not as a tree of elements first: of thousands of cases that takes a third of the time.
def _element(lines: list[str], depth: int, name: str, value: Any, known: str) -> None:
    """Write an element for a list, a mapping, or a text. `known` is the name that its members go by."""
    if type(value) is dict:
        if known in FREE or not all(map(_is_name, value)):
            entries = [({"name": key}, each) for key, each in value.items()]
            _members(lines, depth, name, [("entry", given, {"value": each}) for given, each in entries])
        else:
            _mapping(lines, depth, name, value)
    elif type(value) is list:
        _list(lines, depth, name, value, SINGULAR.get(known, known.removesuffix("s")) or "item")
    else:
        lines.append(f"{' ' * depth}<{name}>{_text(value)}</{name}>")


def _mapping(lines: list[str], depth: int, name: str, value: dict[str, Any], before: str = "") -> None:
    """Write a mapping: what fits on a line as attributes, the rest as elements inside."""
    inner: list[tuple[str, Any]] = []
    head = f"{' ' * depth}<{name}{before}"
    for key, each in value.items():
        if type(each) not in PLAIN or (type(each) is str and "\n" in each):
            if each is not None:
                inner.append((key, each))
        else:
            head += f' {key}="{_text(each)}"'
    if not inner:
        lines.append(head + "/>")
        return
    lines.append(head + ">")
    for key, each in inner:
        _element(lines, depth + 1, key, each, key)
    lines.append(f"{' ' * depth}</{name}>")


def _members(lines: list[str], depth: int, name: str, members: list[tuple[str, dict[str, str], Any]]) -> None:
    """Write elements one after another inside another: their name, attributes that come first, and their content."""
    if not members:
        lines.append(f"{' ' * depth}<{name}/>")
        return
    lines.append(f"{' ' * depth}<{name}>")
    for member, given, value in members:
        _mapping(lines, depth + 1, member, value, "".join(f' {key}="{_text(each)}"' for key, each in given.items()))
    lines.append(f"{' ' * depth}</{name}>")


def _list(lines: list[str], depth: int, name: str, values: list[Any], member: str) -> None:
    if not values:
        lines.append(f"{' ' * depth}<{name}/>")
        return
    if all(value is None or type(value) in NUMBERS for value in values):
        words = " ".join("NaN" if value is None else repr(value) for value in values)
        lines.append(f"{' ' * depth}<{name}>{words}</{name}>")
        return
    lines.append(f"{' ' * depth}<{name}>")
    for value in values:
        _element(lines, depth + 1, member if member != name else "item", "" if value is None else value, "")
    lines.append(f"{' ' * depth}</{name}>")


@lru_cache(4096)
def _is_name(key: str) -> bool:
    return NAME.fullmatch(key) is not None


def _text(value: Any) -> str:
    if type(value) is not str:
        return ("true" if value else "false") if type(value) is bool else repr(value)
    plain = value if value.isascii() and value.isprintable() else clean(value)
    return SPECIAL.sub(lambda found: ESCAPED[found[0]], plain) if SPECIAL.search(plain) else plain
