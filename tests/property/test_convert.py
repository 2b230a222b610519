"""A suite in the other format says the same: any tree there and back, and any valid suite as an equal model."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pileup.model.suite import Suite
from pileup.suite.bind import bind, plain, tree_of
from pileup.suite.convert import convert, same
from pileup.suite.faults import START, Faults
from pileup.suite.reading import read_tree
from pileup.suite.shapes import ANY, SINGULARS, SUITE, Shape
from pileup.suite.tree import Mapping, Node, Scalar, Sequence
from pileup.suite.variables import Variables
from pileup.suite.xml_writer import write_xml
from pileup.suite.yaml_writer import write_yaml
from tests.property.suites import suites
from tests.support import examples

WORDS = ["is", "name", "value", "entry", "item", "suite", "xml:space", "xmlns", "a b", "", "~", "<<", "1", "é", "a.b"]
WORDS += [*SINGULARS, *SINGULARS.values(), "use", "load", "after", "with", "service", "x" * 200]
PIECES = [
    "",
    " ",
    "~",
    "null",
    "5",
    "5 s",
    "$x",
    "${x}",
    "<",
    "&amp;",
    "]]>",
    "<![CDATA[",
    "'",
    '"',
    "a: b",
    "- a",
    "#",
]
PIECES += [
    "\n",
    " \n ",
    "\t",
    "\r",
    "\x85",
    "\u2028",
    "\x7f",
    "\ufeff",
    "two\nlines\n",
    " led",
    "ended ",
    "x y  z",
    "é🦕",
]
PIECES += [
    "long " * 60,
    "long  " * 60,
    "x" * 300,
    "[1, 2]",
    "{a: b}",
    "&a",
    "*a",
    "!t",
    "%",
    "yes",
    "|",
    ">",
    "\n\n a\n",
]

characters = st.characters(
    exclude_categories=["Cs"], exclude_characters=[chr(n) for n in range(32)] + ["\ufffe", "\uffff"]
)
texts = (
    st.sampled_from(PIECES)
    | st.text(characters, max_size=12)
    | st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
)
words = st.sampled_from(WORDS) | st.text(characters, max_size=8)
scalars = st.builds(Scalar, texts, st.just(True), st.just(START)) | st.just(Scalar("", False, START))


def mapping_of(entries: dict[str, Node]) -> Mapping:
    return Mapping(dict(entries), START, dict.fromkeys(entries, START))


def sequence_of(items: list[Node]) -> Sequence:
    return Sequence(items, START)


anything: st.SearchStrategy[Node] = st.recursive(
    scalars,
    lambda below: (
        st.lists(below, max_size=3).map(sequence_of) | st.dictionaries(words, below, max_size=3).map(mapping_of)
    ),
    max_leaves=6,
)


@st.composite
def shaped(draw: st.DrawFn, shape: Shape = SUITE, depth: int = 0) -> Node:
    """A tree that mostly has the shape of the schema, and anything anywhere."""
    odd = depth > 0 and draw(st.integers(0, 7)) == 0
    if odd or shape == ANY or depth > 4:
        return draw(anything)
    if shape.kind == "list":
        return sequence_of([draw(shaped(shape.item, depth + 1)) for _ in range(draw(st.integers(0, 3)))])
    from pileup.suite.messages import fields_of

    known = st.sampled_from(list(fields_of(shape.model))) if shape.model else words
    chosen = draw(st.lists(known | words if draw(st.booleans()) else known, max_size=5, unique=True))
    return mapping_of({word: draw(shaped(shape.part(word), depth + 1)) for word in chosen})


many = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def reread(text: str, suffix: str) -> Node:
    faults = Faults("f")
    tree = read_tree(text.encode(), suffix, faults)
    assert not faults, f"{faults.error()}\n{text}"
    assert tree is not None
    return tree


@many
@given(tree=shaped())
def test_any_tree_is_the_same_from_xml(tree: Mapping) -> None:
    faults = Faults("f")
    text = write_xml(tree, faults)
    assert not faults
    assert same(reread(text, ".xml"), tree), text


@many
@given(tree=shaped())
@example(mapping_of({"a": Scalar("\u2028\n", True, START)}))
def test_any_tree_is_the_same_from_yaml(tree: Mapping) -> None:
    text = write_yaml(tree)
    assert same(reread(text, ".yaml"), tree), text


@many
@given(tree=shaped())
def test_variables_keep_their_order(tree: Mapping) -> None:
    before = tree.entries.get("variables")
    back = reread(write_xml(tree, Faults("f")), ".xml")
    assert isinstance(back, Mapping)
    after = back.entries.get("variables")
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        assert list(before.entries) == list(after.entries)


def test_trees_that_differ_are_not_the_same() -> None:
    one = tree_of({"a": ["1", {"b": "2"}], "c": None})
    assert same(one, tree_of({"c": None, "a": ["1", {"b": "2"}]}))
    for other in (
        {"a": ["1", {"b": "3"}], "c": None},
        {"a": ["1"], "c": None},
        {"a": ["1", {"b": "2"}], "c": ""},
        ["1"],
    ):
        assert not same(one, tree_of(other))


def model(tree: Node) -> Suite:
    faults = Faults("f")
    assert isinstance(tree, Mapping)
    Variables(tree, faults).fill(tree)
    suite = bind(tree, faults).suite
    assert suite is not None, faults.error()
    return suite


@many
@given(data=suites())
def test_a_valid_suite_gives_equal_models_there_and_back(data: dict[str, Any]) -> None:
    tree = tree_of(data)
    assert isinstance(tree, Mapping)
    wanted = model(tree)
    first = write_yaml(tree)
    xml = convert(first.encode(), ".yaml", "f", "xml").text
    again = convert(xml.encode(), ".xml", "f", "yaml").text
    assert model(reread(xml, ".xml")) == wanted
    assert model(reread(again, ".yaml")) == wanted
    assert same(reread(again, ".yaml"), tree)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "examples").glob("*.*ml")), ids=lambda path: path.name
)
def test_every_example_gives_equal_models_there_and_back(path: Path) -> None:
    data = path.read_bytes()
    wanted = model(reread(data.decode(), path.suffix))
    xml = convert(data, path.suffix, "f", "xml").text
    yaml = convert(xml.encode(), ".xml", "f", "yaml").text
    assert model(reread(xml, ".xml")) == model(reread(yaml, ".yaml")) == wanted
    assert plain(reread(yaml, ".yaml")) == plain(reread(data.decode(), path.suffix))
