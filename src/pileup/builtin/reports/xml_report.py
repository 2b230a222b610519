"""The report for programs that read XML: everything that the JSON report has."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from pileup.builtin.reports.markup import clean
from pileup.model.results import RunResults
from pileup.plugin import Report
from pileup.stats import to_json

FORMAT = "1"
NAME = re.compile(r"[a-z][a-z0-9_]*")
FREE = {"labels", "versions", "values", "scan", "point", "quantiles"}
"""Mappings whose keys are chosen by users or numbers: entries, whatever the keys look like."""
SINGULAR = {"series": "metric", "criteria": "criterion"}
PLAIN = (str, int, float, bool)
NUMBERS = (int, float)


class XmlReport(Report):
    """The report for programs that read XML: everything that `results.json` has, under the same names.

    A mapping is an element, a number or a one-line text in it an attribute; what is not known is left out. A list is an
    element that holds one element per member, named in the singular (`cases` holds `case`); a list of numbers is text
    with spaces between them, `NaN` where there is none. Where users choose the names (`labels`, `point`), each is an
    `<entry name="…" value="…"/>`. A text of several lines is an element of its own. Times are nanoseconds since the
    epoch, durations nanoseconds, rates per second, sizes bytes.
    """

    name = "xml"
    file_name = "report.xml"

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the XML, UTF-8. `outputs` stay files of the run folder, named by path."""
        root = ElementTree.Element("pileup", {"format": FORMAT})
        for name, value in to_json(results).items():
            _add(root, name, value)
        ElementTree.indent(root)
        document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
        return document + b"\n"


def _add(parent: ElementTree.Element, name: str, value: Any) -> None:
    """Add a value to an element under a name: as an attribute, a child with text, or a child with children."""
    if value is None:
        return
    if type(value) in PLAIN:
        text = _text(value)
        if "\n" in text:
            ElementTree.SubElement(parent, name).text = text
        else:
            parent.set(name, text)
        return
    _fill(ElementTree.SubElement(parent, name), name, value)


def _fill(element: ElementTree.Element, name: str, value: Any) -> None:
    """Put a mapping or a list into an element."""
    if isinstance(value, list):
        _list(element, SINGULAR.get(name, name.removesuffix("s")), value)
    elif name in FREE or not all(NAME.fullmatch(key) for key in value):
        for key, each in value.items():
            _add(ElementTree.SubElement(element, "entry", {"name": clean(key)}), "value", each)
    else:
        for key, each in value.items():
            _add(element, key, each)


def _list(element: ElementTree.Element, name: str, values: list[Any]) -> None:
    if values and all(value is None or type(value) in NUMBERS for value in values):
        element.text = " ".join("NaN" if value is None else _text(value) for value in values)
        return
    for value in values:
        child = ElementTree.SubElement(element, name if name != element.tag else "item")
        if type(value) in PLAIN:
            child.text = _text(value)
        elif value is not None:
            _fill(child, "", value)


def _text(value: Any) -> str:
    if type(value) is str:
        return value if value.isascii() and value.isprintable() else clean(value)
    return ("true" if value else "false") if type(value) is bool else repr(value)
