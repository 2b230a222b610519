"""The XML report: well-formed, and everything that JSON has is in it."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from pileup.builtin.reports.xml_report import XmlReport
from pileup.plugin import registry
from pileup.stats import to_json
from tests.unit.builtin.reports import submitted, synthetic


def render(results: object) -> ElementTree.Element:
    return ElementTree.fromstring(XmlReport().render(results, {}))


def same(found: str | None, wanted: object) -> bool:
    if isinstance(wanted, bool):
        return found == str(wanted).lower()
    if isinstance(wanted, (int, float)):
        return found is not None and float(found) == wanted
    return found == wanted


def missing(element: ElementTree.Element, value: object, path: str) -> list[str]:
    """What of plain data is not in an element, by the rules that the report promises."""
    if isinstance(value, dict):
        entries = {child.get("name"): child for child in element.findall("entry")}
        return [
            lost
            for key, each in value.items()
            for lost in absent(entries.get(key, element), key, each, f"{path}/{key}")
        ]
    if not isinstance(value, list):
        return [] if same(element.text, value) else [f"{path}: {element.text!r}, not {value!r}"]
    if value and all(each is None or isinstance(each, (int, float)) for each in value):
        words = (element.text or "").split()
        pairs = zip(words, value, strict=len(words) == len(value))
        good = len(words) == len(value) and all(same(w, v) or (w, v) == ("NaN", None) for w, v in pairs)
        return [] if good else [f"{path}: numbers differ"]
    if len(element) != len(value):
        return [f"{path}: {len(element)} members, not {len(value)}"]
    return [
        lost
        for place, (child, each) in enumerate(zip(element, value, strict=True))
        for lost in missing(child, each, f"{path}[{place}]")
    ]


def absent(element: ElementTree.Element, key: str, value: object, path: str) -> list[str]:
    """What of one member of a mapping is not in the element that stands for the mapping, or for the entry."""
    name = "value" if element.tag == "entry" else key
    if value is None:
        return [] if element.get(name) is None and element.find(name) is None else [f"{path}: should not be there"]
    child = element.find(name)
    if isinstance(value, (dict, list)):
        return [f"{path}: no element"] if child is None else missing(child, value, path)
    text = child.text if child is not None else element.get(name)
    return [] if same(text, value) else [f"{path}: {text!r}, not {value!r}"]


@pytest.mark.parametrize("name", ["rich", "eventful", "scanned", "empty", "hostile"])
def test_everything_that_json_has_is_there(name: str) -> None:
    results = getattr(synthetic, name)()
    assert missing(render(results), to_json(results), "") == []


def test_jobs_and_audits_are_there() -> None:
    results = submitted.submitted()
    root = render(results)
    assert missing(root, to_json(results), "") == []
    assert root.find("audits/audit[@number='1']/fates/entry[@name='ran once']").get("value") == "1234"
    assert root.find("audits/audit/bad/submission").get("name") == "job-0"


def test_what_is_said_with_lines_is_an_element() -> None:
    root = render(synthetic.rich())
    assert root.find("run/suite/text").text.startswith("pileup: 1\ntitle")
    assert root.find("run/labels/entry[@name='scale']").get("value") == "stress"
    assert root.find("cases/case[@name='copy']/operations/operation/response/quantiles/entry[@name='0.99']") is not None


def test_the_comparison_of_points_can_be_found() -> None:
    root = render(synthetic.scanned())
    (rate,) = root.findall("comparisons/comparison[@metric='rate'][@operation='']")
    assert [each.get("point") for each in rate.findall("differences/difference")] == ["1", "2", "3", "4", "5"]
    assert root.find("points/point/values/entry[@name='se.threads']").get("value") == "4"


def test_what_xml_cannot_say_is_replaced() -> None:
    rich = synthetic.rich()
    root = render(replace(rich, limit="a\x00b\ud800c", run=replace(rich.run, labels={"x\x01": "y"})))
    assert root.get("limit") == "a\ufffdb\ufffdc"


def test_it_is_registered_under_its_name() -> None:
    assert registry.load("reports", "xml") is XmlReport
