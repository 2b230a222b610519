"""A suite in the other format says the same: any tree there and back, and any valid suite as an equal model."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from pileup.model.suite import Suite
from pileup.suite.bind import bind, plain, tree_of
from pileup.suite.formats.convert import convert, same
from pileup.suite.formats.reading import read_tree
from pileup.suite.formats.tree import Mapping, Node, Scalar
from pileup.suite.formats.xml_writer import write_xml
from pileup.suite.formats.yaml_writer import write_yaml
from pileup.suite.problems import START, Problems
from pileup.suite.variables import Variables
from tests.property.suites import suites
from tests.property.trees import mapping_of, trees
from tests.support import examples

many = settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def reread(text: str, suffix: str) -> Node:
    faults = Problems("f")
    tree = read_tree(text.encode(), suffix, faults)
    assert not faults, f"{faults.error()}\n{text}"
    assert tree is not None
    return tree


@many
@given(tree=trees())
def test_any_tree_is_the_same_from_xml(tree: Mapping) -> None:
    faults = Problems("f")
    text = write_xml(tree, faults)
    assert not faults
    assert same(reread(text, ".xml"), tree), text


@many
@given(tree=trees())
@example(mapping_of({"a": Scalar("\u2028\n", True, START)}))
def test_any_tree_is_the_same_from_yaml(tree: Mapping) -> None:
    text = write_yaml(tree)
    assert same(reread(text, ".yaml"), tree), text


@many
@given(tree=trees())
def test_variables_keep_their_order(tree: Mapping) -> None:
    before = tree.entries.get("variables")
    back = reread(write_xml(tree, Problems("f")), ".xml")
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
    faults = Problems("f")
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
