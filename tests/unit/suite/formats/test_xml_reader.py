"""XML to the same tree as YAML, with positions, within limits."""

import pytest

from pileup.suite import load
from pileup.suite.bind import plain
from pileup.suite.formats.size_limits import DEEPEST, MOST_NODES
from pileup.suite.formats.tree import Mapping, Scalar, walk, where
from pileup.suite.formats.xml_reader import read_xml
from pileup.suite.problems import Position, Problems
from tests.support import ROOT


def read(inside: str, attributes: str = "") -> Mapping:
    faults = Problems("f")
    tree = read_xml(f"<suite{attributes}>{inside}</suite>".encode(), faults)
    assert not faults, faults.error()
    assert isinstance(tree, Mapping)
    return tree


def said(inside: str, attributes: str = "") -> object:
    """What a suite with that inside says, as plain data."""
    return plain(read(inside, attributes))


def told(text: str | bytes) -> list[str]:
    faults = Problems("f")
    read_xml(text if isinstance(text, bytes) else text.encode(), faults)
    return [str(fault) for fault in faults.error().problems]


def test_the_first_run_is_the_same_plan_in_both_formats() -> None:
    examples = ROOT / "examples"
    one, other = load(examples / "first-run.yaml"), load(examples / "first-run.xml")
    assert one.suite == other.suite
    assert one.cases == other.cases
    assert one.points == other.points


def test_words_are_attributes_or_elements() -> None:
    assert said("<title>t</title><seed>4</seed>", ' pileup="1"') == {"pileup": "1", "title": "t", "seed": "4"}
    assert said('<limits bytes="5 B"><operations>3</operations></limits>') == {
        "limits": {"bytes": "5 B", "operations": "3"}
    }


@pytest.mark.parametrize(
    "inside",
    [
        '<test name="a" after="b"/><test name="c" after="d"><after>e</after></test>',
        '<tests><test name="a" after="b"/><test name="c"><after>d</after><after>e</after></test></tests>',
        '<tests><value name="a"><after>b</after></value><value name="c" after="d"><after>e</after></value></tests>',
        '<tests name="a" after="b"/><tests name="c"><after><value>d</value><value>e</value></after></tests>',
        '<test name="a" after="b"/><tests is="list"><test name="x"/></tests>',
    ],
)
def test_a_list_is_its_element_repeated(inside: str) -> None:
    wanted = [{"name": "a", "after": ["b"]}, {"name": "c", "after": ["d", "e"]}]
    if "is=" in inside:
        assert "is given twice" in told(f"<suite>{inside}</suite>")[0]
    else:
        assert said(inside) == {"tests": wanted}


@pytest.mark.parametrize(
    "inside",
    [
        '<options size="5" a.b="x"/>',
        '<options size="5"><a.b>x</a.b></options>',
        '<option name="size">5</option><option name="a.b">x</option>',
        '<options><option name="size">5</option><entry name="a.b">x</entry></options>',
        '<option name="size">5</option><options a.b="x"/>',
    ],
)
def test_names_are_attributes_elements_or_parts_with_a_name(inside: str) -> None:
    assert said(f'<test use="x">{inside}</test>') == {"tests": [{"use": "x", "options": {"size": "5", "a.b": "x"}}]}


def test_parts_with_names_stand_in_the_suite() -> None:
    assert said('<target name="a b" kind="posix"/><target name="c" url="/"><setting name="x" set="y"/></target>') == {
        "targets": {"a b": {"kind": "posix"}, "c": {"url": "/", "settings": {"x": {"set": "y"}}}}
    }
    scan = '<scan><axis name="se.threads"><value>4</value><value>16</value></axis><axis name="a.b">1</axis></scan>'
    assert said(scan) == {"scan": {"se.threads": ["4", "16"], "a.b": ["1"]}}


def test_a_word_called_name_beside_one_that_is_the_name() -> None:
    inside = '<launch><entry name="x y"><name>n</name></entry></launch>'
    assert said(f'<target name="t">{inside}</target>') == {"targets": {"t": {"launch": {"x y": {"name": "n"}}}}}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("<x/>", None),
        ("<x></x>", None),
        ("<x> \n </x>", None),
        ('<x is="nothing"/>', None),
        ('<x is="text"/>', ""),
        ('<x is="list"/>', []),
        ('<x is="mapping"/>', {}),
        ("<x>null</x>", "null"),
        ("<x>~</x>", "~"),
        ("<x>5</x>", "5"),
        ("<x><value>5</value></x>", ["5"]),
        ("<x><value/></x>", [None]),
        ("<x><value><value>5</value></value></x>", [["5"]]),
        ('<x><value a="1"/><value b="2"/></x>', [{"a": "1"}, {"b": "2"}]),
        ('<x value="5"/>', {"value": "5"}),
        ("<x> a  b </x>", "a  b"),
        ("<x>\n  two\n  lines\n\n  and more\n</x>", "two lines\nand more"),
        ('<x xml:space="preserve"> a\n b </x>', " a\n b "),
        ('<x xml:space="preserve">&#13;&#9;</x>', "\r\t"),
        ("<x><![CDATA[a < b && c]]></x>", "a < b && c"),
        ("<x>&lt;&gt;&amp;&quot;&apos;&#64;</x>", "<>&\"'@"),
        ("<x>a<!-- not this -->b</x>", "ab"),
    ],
)
def test_what_an_element_says(option: str, value: object) -> None:
    assert said(f"<options>{option}</options>") == {"options": {"x": value}}


def test_an_empty_element_of_a_mapping_is_an_empty_mapping() -> None:
    assert said('<target name="t"><launch/></target>') == {"targets": {"t": {"launch": {}}}}
    assert said('<target name="t"><launch is="nothing"/></target>') == {"targets": {"t": {"launch": None}}}
    assert said("<test/>") == {"tests": [{}]}


def test_the_text_of_an_attribute_is_taken_as_it_stands() -> None:
    assert said('<options a=" x " b="" c="&#10;"/>') == {"options": {"a": " x ", "b": "", "c": "\n"}}


def test_every_text_has_its_place_and_span() -> None:
    text = '<suite é="ü"\n  title = \'t\'>\n  <about>\n    long</about>\n  <target name="se" kind="x"/>\n</suite>'
    faults = Problems("f")
    tree = read_xml(text.encode(), faults)
    assert isinstance(tree, Mapping)
    found = {path: (node.at.line, node.at.column, text[slice(*node.span)]) for path, node in walk(tree)}
    assert found == {
        ("é",): (1, 11, "ü"),
        ("title",): (2, 12, "t"),
        ("about",): (4, 5, "\n    long"),
        ("targets", "se", "kind"): (5, 27, "x"),
    }
    assert where(tree, ("é",), key=True) == Position(0, 1, 8)
    assert where(tree, ("about",), key=True) == Position(0, 3, 3)
    assert where(tree, ("targets", "se"), key=True) == Position(0, 5, 17)
    assert isinstance(tree.entries["title"], Scalar)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "f:1:1: the file is empty"),
        ("<foo/>", "f:1:1: the file holds <foo>"),
        ("<suite>", "f:1:8: the file ends inside <suite> of line 1; expected </suite>"),
        ("<suite><a></b></suite>", "f:1:13: </b> in <a> of line 1; expected </a> first"),
        ("<suite/><suite/>", "f:1:9: something after </suite>"),
        ('<suite a="1"\n a="2"/>', "f:2:2: 'a' is given twice; expected each word once (first in line 1)"),
        ("<suite><seed>1</seed><seed>2</seed></suite>", "f:1:22: 'seed' is given twice"),
        ('<suite seed="1"><seed>2</seed></suite>', "f:1:17: 'seed' is given twice"),
        ("<suite>text<seed>1</seed></suite>", "f:1:8: <suite> holds text beside words: 'text'"),
        ("<suite><seed>1</seed>text</suite>", "f:1:22: <suite> holds text beside words: 'text'"),
        ("<suite><options><x><value/><y/></x></options></suite>", "f:1:28: <x> holds words and a list"),
        ('<suite><options is="x"/></suite>', 'f:1:17: is="x"; expected one of list, mapping, nothing, text'),
        ('<suite><options is="nothing" x="1"/></suite>', "f:1:30: <options> is nothing, and holds something"),
        ('<suite><seed xml:space="x"/></suite>', 'f:1:14: xml:space="x"; expected preserve or default'),
        ('<suite><tests is="list"><x/></tests></suite>', "f:1:25: <x> in a list; expected <value>"),
        ("<suite><target/></suite>", """f:1:8: <target> has no name; expected <target name="…">"""),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><suite/>', "f:1:1: the encoding 'ISO-8859-1' is declared"),
        ('<?xml version="1.1"?><suite/>', "f:1:1: "),
        ("<?php x?><suite/>", "f:1:1: the processing instruction 'php'"),
        ('<suite xmlns="u"/>', "f:1:8: 'xmlns' is of a namespace"),
        ('<suite xml:lang="de"/>', "f:1:8: 'xml:lang' is of a namespace"),
        ("<suite><p:x/></suite>", "f:1:8: the element 'p:x' has a prefix"),
        ("<suite>&nbsp;</suite>", "f:1:8: an entity that XML does not have"),
        ("<suite>&#0;</suite>", "f:1:8: this is not XML: reference to invalid character number"),
        ('<suite a="<"/>', "f:1:11: this is not XML: not well-formed (invalid token)"),
        ("pileup: 1", "f:1:1: this is not XML: syntax error"),
        ("<suite>\x01</suite>", "f:1:8: control character U+0001"),
        (b"<suite>\xff</suite>", "f:1:8: byte 0xff is not UTF-8"),
        ('<!DOCTYPE suite [<!ENTITY a "b">]><suite/>', "f:1:1: a document type"),
        ('<!DOCTYPE suite SYSTEM "file:///etc/passwd"><suite/>', "f:1:1: a document type"),
    ],
)
def test_what_is_refused(text: str | bytes, fault: str) -> None:
    assert told(text)[0].startswith(fault), told(text)


def test_depth_is_limited() -> None:
    inside = "<x>" * (DEEPEST - 2) + "</x>" * (DEEPEST - 2)
    read(f"<options>{inside}</options>")
    assert f"deeper than {DEEPEST}" in told(f"<suite>{'<x>' * 5000}")[0]


@pytest.mark.long
def test_the_number_of_values_is_limited() -> None:
    assert f"more than {MOST_NODES}" in told("<suite>" + "<test/>" * MOST_NODES + "</suite>")[0]


def test_a_byte_order_mark_is_no_fault() -> None:
    faults = Problems("f")
    assert isinstance(read_xml(b'\xef\xbb\xbf<?xml version="1.0"?><suite/>', faults), Mapping)
    assert not faults
