"""JUnit XML: the structure that the schema of Jenkins' xUnit plug-in asks for, and the right words."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from pileup.builtin.reports.junit import JUnitReport, slug
from pileup.model.results import Equivalence, RunResults
from pileup.plugin import registry
from tests.unit.builtin.reports import synthetic

# https://github.com/jenkinsci/xunit-plugin .../junit-10.xsd: attributes, whether required, and children of each element
ATTRIBUTES = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set()),
    "testsuite": ({"name", "tests", "failures", "errors", "time", "skipped", "timestamp", "hostname"}, {"name"}),
    "properties": (set(), set()),
    "property": ({"name", "value"}, {"name", "value"}),
    "testcase": ({"classname", "name", "time"}, {"classname", "name"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "skipped": ({"type", "message"}, set()),
    "system-out": (set(), set()),
    "system-err": (set(), set()),
}
CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase"],
    "properties": ["property"],
    "testcase": ["skipped", "error", "failure", "system-out", "system-err"],
}


def render(results: RunResults) -> ElementTree.Element:
    return ElementTree.fromstring(JUnitReport().render(results, synthetic.outputs()))


def check(element: ElementTree.Element) -> None:
    """Check an element and all below against the schema, the order of children included."""
    allowed, required = ATTRIBUTES[element.tag]
    assert set(element.attrib) <= allowed, element.tag
    assert required <= set(element.attrib), element.tag
    order = CHILDREN.get(element.tag, [])
    places = [order.index(child.tag) for child in element]
    assert places == sorted(places), f"children of {element.tag} are out of order"
    for child in element:
        check(child)


@pytest.mark.parametrize("name", ["rich", "simple", "empty", "hostile", "huge"])
def test_the_structure_is_that_of_the_schema(name: str) -> None:
    root = render(getattr(synthetic, name)())
    assert root.tag == "testsuites"
    check(root)
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)
    assert int(root.attrib["tests"]) == sum(int(suite.attrib["tests"]) for suite in root)


def test_the_check_of_the_structure_can_fail() -> None:
    root = render(synthetic.simple())
    root[0].append(ElementTree.Element("properties"))
    with pytest.raises(AssertionError, match="out of order"):
        check(root)


def test_each_case_ends_with_the_right_word() -> None:
    root = render(synthetic.rich())
    words = {
        case.attrib["name"]: [child.tag for child in case if not child.tag.startswith("system")]
        for case in root[0].iter("testcase")
    }
    assert words == {
        "tools": [],
        "fill": [],
        "copy": [],
        "stat": ["failure"],
        "disk-read": [],
        "list": ["failure"],
        "delete": ["skipped"],
        "tape": ["error"],
    }


def test_reasons_and_errors_are_told() -> None:
    cases = {case.attrib["name"]: case for case in render(synthetic.rich()).iter("testcase")}
    failure = cases["list"].find("failure")
    assert failure is not None
    assert failure.attrib == {"message": "failed: 3 entries, expected 100", "type": "failed"}
    assert failure.text == "1 x failed list: 3 entries, expected 100"
    skipped = cases["delete"].find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == "not run: needs list, which failed"
    assert cases["copy"].attrib["time"] == "20.000"
    assert cases["copy"].attrib["classname"] == "copy-stress-on-the-new-disk-servers"


def test_tests_that_must_answer_alike_stand_beside_the_criteria() -> None:
    alike = (
        Equivalence(("a", "b"), "passed", "", ()),
        Equivalence(("a", "c"), "failed", "answers differ: a: 1; c: <2>", ()),
        Equivalence(("d", "e"), "unknown", "no answer: e", ()),
    )
    suites = render(replace(synthetic.simple(), criteria=(), equivalences=alike)).findall("testsuite")
    found = suites[-1].findall("testcase")
    assert [each.get("name") for each in found] == [f"equal answers: {names}" for names in ("a, b", "a, c", "d, e")]
    assert [[child.tag for child in each] for each in found] == [[], ["failure"], ["error"]]
    assert found[1][0].get("message") == "failed: answers differ: a: 1; c: <2>"


def test_criteria_are_a_suite_of_their_own() -> None:
    suite = render(synthetic.rich())[1]
    assert suite.attrib["name"].endswith(": criteria")
    found = [next(iter(case.iter()), None) for case in suite.iter("testcase")]
    assert len(found) == 7
    words = [[child.tag for child in case] for case in suite.iter("testcase")]
    assert words == [[], ["failure"], ["error"], [], ["skipped"], ["failure"], []]


def test_output_is_kept_with_its_end_and_says_what_is_left_out() -> None:
    cases = {case.attrib["name"]: case for case in render(synthetic.rich()).iter("testcase")}
    assert cases["list"].findtext("system-err") == synthetic.outputs()["output/list/stderr.txt"]
    text = cases["copy"].findtext("system-out")
    assert text is not None
    assert text.endswith("file 019999 copied\n")
    assert "characters left out; all of it is in output/copy/stdout.txt" in text


def test_what_xml_cannot_say_is_replaced() -> None:
    rich = synthetic.rich()
    case = replace(rich.cases[5], reason="bell \x07, escape \x1b[31m, half a pair \ud800, null \0")
    root = ElementTree.fromstring(
        JUnitReport().render(replace(rich, cases=(case,)), {"output/list/stderr.txt": "\x00\x08ok"})
    )
    failure = next(root.iter("failure"))
    assert failure.attrib["message"] == "failed: bell \ufffd, escape \ufffd[31m, half a pair \ufffd, null \ufffd"
    assert next(root.iter("system-err")).text == "\ufffd\ufffdok"


def test_it_is_registered_under_its_name() -> None:
    assert registry.load("reports", "junit") is JUnitReport


def test_class_names_are_plain() -> None:
    assert slug("Copy stress: 2027 (new!)") == "copy-stress-2027-new"
    assert slug("…") == "run"
