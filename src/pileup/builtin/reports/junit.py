"""The report for continuous integration: JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from pileup.builtin.reports.markup import clean
from pileup.plugin import Report

if TYPE_CHECKING:
    from pileup.plugin.results import CaseResult, CriterionResult, Equivalence, ErrorGroup, RunResults

OUTPUT, OUTPUTS = 100_000, 5_000_000
"""Characters of one output and of all, at most: ends are kept."""
ERRORS = ("error", "unknown", "unavailable")


class JUnitReport(Report):
    """The report for continuous integration (Jenkins, GitLab, GitHub): JUnit XML.

    One test suite for the run with a test case per case, and one for its criteria and for tests that must answer alike.
    A case that could not be run because of another is skipped; an unknown verdict is an error, since a run that
    measured nothing has not passed.
    """

    name = "junit"
    file_name = "junit.xml"
    by_default = True

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the XML, UTF-8."""
        title = clean(results.run.title or "run")
        limit = min(OUTPUT, OUTPUTS // max(1, len(outputs)))
        kept = {path: _end(text, path, limit) for path, text in outputs.items()}
        cases = [_case(case, slug(title), results.errors, kept) for case in results.cases]
        judged = [_criterion(each, slug(title)) for each in results.criteria]
        judged += [_equivalence(each, slug(title)) for each in results.equivalences]
        totals = _totals([*cases, *judged])
        totals.pop("skipped")  # the schema knows it of a suite only
        root = ElementTree.Element("testsuites", {"name": title, **totals})
        root.append(_suite(title, cases, results))
        if judged:
            root.append(_suite(f"{title}: criteria", judged, results))
        ElementTree.indent(root)
        document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
        return document + b"\n"


def slug(title: str) -> str:
    """Return a title as a class name: lower case, words joined by dashes."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "run"


def _suite(name: str, cases: list[ElementTree.Element], results: RunResults) -> ElementTree.Element:
    attributes = {
        "name": name,
        **_totals(cases),
        "timestamp": datetime.fromtimestamp(results.run.started / 1e9, UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        "hostname": clean(next((host.name for host in results.run.hosts), "localhost")),
    }
    suite = ElementTree.Element("testsuite", attributes)
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in _properties(results).items():
        ElementTree.SubElement(properties, "property", {"name": clean(key), "value": clean(value)})
    suite.extend(cases)
    return suite


def _properties(results: RunResults) -> dict[str, str]:
    labels = {f"label.{name}": value for name, value in results.run.labels.items()}
    known = {
        "folder": results.folder,
        "verdict": results.verdict,
        "limit": results.limit,
        "exit_code": str(int(results.exit_code)),
    }
    return known | ({"simulated": "true"} if results.run.simulated else {}) | labels


def _totals(cases: list[ElementTree.Element]) -> dict[str, str]:
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(sum(case.find(kind) is not None for case in cases)) for name, kind in kinds.items()}
    seconds = sum(float(case.get("time", "0")) for case in cases)
    return {"tests": str(len(cases)), **counts, "time": f"{seconds:.3f}"}


def _case(
    case: CaseResult, group: str, errors: tuple[ErrorGroup, ...], outputs: Mapping[str, str]
) -> ElementTree.Element:
    seconds = (case.ended - case.started) / 1e9 if case.started and case.ended else 0.0
    element = ElementTree.Element("testcase", {"classname": group, "name": clean(case.name), "time": f"{seconds:.3f}"})
    found = [each for each in errors if each.case == case.name]
    lines = [f"{each.count} x {each.outcome} {each.operation}: {each.told}" for each in found[:20]]
    _judge(element, str(case.outcome), case.reason, "\n".join(lines))
    for tag, path in (("system-out", case.stdout), ("system-err", case.stderr)):
        if outputs.get(path):
            ElementTree.SubElement(element, tag).text = clean(outputs[path])
    return element


def _criterion(each: CriterionResult, group: str) -> ElementTree.Element:
    attributes = {"classname": f"{group}.criteria", "name": clean(f"{each.id}: {each.says}"), "time": "0.000"}
    element = ElementTree.Element("testcase", attributes)
    value = each.figure.value
    measured = (
        "nothing was measured" if value is None else f"measured {value:.6g} in base units (ns, bytes, per second)"
    )
    text = f"{each.check}\n{measured}; wanted {each.threshold}; coverage {each.coverage}" if each.check else ""
    text += f"\n{each.remark}" if each.remark else ""
    _judge(element, each.verdict, each.reason, text)
    return element


def _equivalence(each: Equivalence, group: str) -> ElementTree.Element:
    attributes = {
        "classname": f"{group}.equivalent",
        "name": f"equal answers: {', '.join(each.tests)}",
        "time": "0.000",
    }
    element = ElementTree.Element("testcase", attributes)
    _judge(element, each.verdict, each.reason, each.reason)
    return element


def _judge(element: ElementTree.Element, outcome: str, reason: str, text: str) -> None:
    """Say how it ended: nothing when it passed, one child otherwise."""
    from pileup.plugin.results import Verdict  # noqa: PLC0415  `pileup list` imports this module

    kinds = {
        "failure": ("failed", Verdict.NOT_MET, Verdict.NOT_MET_NOT_SHOWN),
        "error": ERRORS,
        "skipped": ("not run", Verdict.NOT_COVERED),
    }
    kind = next((kind for kind, words in kinds.items() if outcome in words), None)
    if kind is None:
        return
    message = reason if reason.startswith(outcome) else f"{outcome}: {reason}" if reason else outcome
    child = ElementTree.SubElement(element, kind, {"message": clean(message)})
    if kind != "skipped":
        child.set("type", outcome.replace(" ", "-"))
        child.text = clean(text) or None


def _end(text: str, path: str, limit: int) -> str:
    left = len(text) - limit
    return text if left <= 0 else f"[{left} characters left out; all of it is in {path}]\n{text[-limit:]}"
