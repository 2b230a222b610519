"""The JSON Schema of the suite file agrees with what is accepted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from pileup.model.suite import Suite
from pileup.suite import suite_schema
from tests.support import ROOT
from tests.unit.suite.conftest import HEAD, ONE

EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))


def valid(text: str) -> bool:
    validator = jsonschema.Draft202012Validator(suite_schema())
    return validator.is_valid(yaml.safe_load(text))


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(suite_schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_valid(path: Path) -> None:
    jsonschema.Draft202012Validator(suite_schema()).validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        ONE + "labels: {year: 2027, nightly: true}\nseed: $x\nvariables: {x: 3}\ndelay: 5 s\n",
        HEAD + "tests: [{name: a, use: noop, load: {clients: $n, for: 3 s, think: {normal: [1 s, 100 ms]}}}]\n",
    ],
)
def test_it_accepts_what_is_right(text: str) -> None:
    assert valid(text)


@pytest.mark.parametrize(
    "text",
    [
        HEAD,
        ONE + "tittle: x\n",
        ONE + "against: [1]\n",
        ONE + "seed: [1]\n",
        ONE + "seed: many\n",
        HEAD + "tests: [{name: a, use: noop, load: {arrivals: sometimes, rate: 3, for: 3 s}}]\n",
        HEAD + "tests: [{name: a b, use: noop}]\n",
    ],
)
def test_it_refuses_what_is_wrong(text: str, faults: Callable[..., list[str]]) -> None:
    assert not valid(text)
    assert faults(text)


def test_every_word_is_described_and_reserved_ones_are_marked() -> None:
    schema = suite_schema()
    models: list[dict[str, Any]] = [schema, *schema["$defs"].values()]
    for model in models:
        for word, node in model["properties"].items():
            assert node.get("description"), word
    assert schema["properties"]["against"]["not_yet"] is True
    reserved = [name for name, field in Suite.model_fields.items() if field.json_schema_extra]
    assert {"against"} <= set(reserved)


def test_quantities_name_their_units() -> None:
    timeout = suite_schema()["$defs"]["TestSpec"]["properties"]["timeout"]
    assert timeout["x-dimension"] == "time"
    assert "ms" in timeout["x-units"]
