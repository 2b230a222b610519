"""YAML to a tree with positions, within limits."""

import pytest

from pileup.suite.formats.size_limits import DEEPEST, MOST_NODES
from pileup.suite.formats.tree import Mapping, Scalar, Sequence, kind_of, walk, where
from pileup.suite.formats.yaml_reader import read_yaml
from pileup.suite.problems import Position, Problems


def read(text: str) -> Mapping:
    faults = Problems("f")
    tree = read_yaml(text.encode(), faults)
    assert not faults, faults.error()
    assert isinstance(tree, Mapping)
    return tree


def told(text: str | bytes) -> list[str]:
    faults = Problems("f")
    read_yaml(text if isinstance(text, bytes) else text.encode(), faults)
    return [str(fault) for fault in faults.error().problems]


def test_every_scalar_is_text_with_its_place() -> None:
    tree = read("a: 1\nb: [no, 'x y']\nc:\n  d: |\n    two\n    lines\n")
    found = [(path, node.text, node.at.line, node.at.column) for path, node in walk(tree)]
    assert found == [
        (("a",), "1", 1, 4),
        (("b", 0), "no", 2, 5),
        (("b", 1), "x y", 2, 9),
        (("c", "d"), "two\nlines\n", 4, 6),
    ]


def test_columns_count_characters_not_bytes() -> None:
    tree = read("é: [ü, x]\n")
    assert where(tree, ("é", 1)) == Position(0, 1, 8)


def test_a_byte_order_mark_is_no_fault() -> None:
    assert read("\ufeffa: 1").entries.keys() == {"a"}


@pytest.mark.parametrize(("text", "empty"), [("~", True), ("null", True), ("", True), ("''", False), ("'null'", False)])
def test_nothing_is_plain_only(text: str, empty: bool) -> None:
    node = read(f"a: {text}").entries["a"]
    assert isinstance(node, Scalar)
    assert node.empty is empty
    assert kind_of(node) == ("nothing" if empty else "text")


def test_the_place_of_a_word_is_not_that_of_its_value() -> None:
    tree = read("a:\n  bcd: x\n")
    assert where(tree, ("a", "bcd"), key=True) == Position(0, 2, 3)
    assert where(tree, ("a", "bcd")) == Position(0, 2, 8)
    assert where(tree, ("a", "missing")) == Position(0, 2, 3)


def test_an_alias_is_a_copy() -> None:
    tree = read("a: &x {k: [1]}\nb: *x\n")
    first, second = tree.entries["a"], tree.entries["b"]
    assert first == second
    assert first is not second
    assert first.entries["k"] is not second.entries["k"]


def test_an_anchor_may_be_set_anew() -> None:
    tree = read("a: &x 1\nb: &x 2\nc: *x\n")
    assert tree.entries["c"].text == "2"


def test_depth_is_counted_through_aliases() -> None:
    inner = "[" * 60 + "]" * 60
    assert isinstance(read(f"a: &x {inner}\nb: {'[' * 38}*x{']' * 38}\n").entries["b"], Sequence)
    assert f"deeper than {DEEPEST}" in told(f"a: &x {inner}\nb: {'[' * 40}*x{']' * 40}\n")[0]


def test_values_are_counted_through_aliases() -> None:
    half = ", ".join("x" * (MOST_NODES // 2 // 10))
    assert f"more than {MOST_NODES}" in told(f"a: &x [{half}]\nb: [{', '.join(['*x'] * 20)}]\n")[0]


def test_faults_do_not_hide_each_other() -> None:
    assert told("a: !t 1\na: 2\n<<: {b: 1}\n") == [
        "f:1:4: the tag '!t'; expected values without YAML tags (the suite's schema knows the types)",
        "f:2:1: 'a' is given twice; expected each word once (first in line 1)",
        "f:3:1: the merge key `<<`; expected the words themselves (merge keys are not part of a suite)",
    ]


def test_bad_bytes_are_told_at_their_place() -> None:
    assert told(b"a: 1\nb: \xff\n") == [
        "f:2:4: byte 0xff is not UTF-8; expected text in UTF-8 (save the file as UTF-8)"
    ]


def test_a_directive_with_tags_is_no_way_in() -> None:
    assert "the tag" in told("%TAG ! tag:x,2000:\n---\na: !b 1\n")[0]
