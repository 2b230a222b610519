"""The published schema of results.json holds for real results, and says no to what is not."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from pileup.builtin.reports.json_report import JsonReport
from pileup.model.results_json import FORMAT, to_json
from pileup.model.results_schema import results_schema
from pileup.record import RunFolder
from pileup.stats import results
from tests.support import ROOT
from tests.unit.builtin.reports import submitted, synthetic
from tests.unit.builtin.reports.broken import broken

GOLDEN = ROOT / "tests/golden/0.1"
MADE = {
    "rich": synthetic.rich, "scanned": synthetic.scanned, "placed": synthetic.placed, "eventful": synthetic.eventful,
    "submitted": submitted.submitted, "broken": broken,
}  # fmt: skip


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = results_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("state", ["ended", "running"])
def test_real_results_are_as_it_says(validator: Draft202012Validator, state: str) -> None:
    found = results(RunFolder.open(GOLDEN / state))
    validator.validate(json.loads(JsonReport().render(found, {})))


@pytest.mark.parametrize("name", MADE)
def test_results_of_every_kind_are_as_it_says(validator: Draft202012Validator, name: str) -> None:
    validator.validate(json.loads(json.dumps(to_json(MADE[name]()))))


@pytest.mark.parametrize(
    ("key", "value"), [("format", FORMAT + 1), ("verdict", "great"), ("cases", {}), ("exit_code", "0"), ("limit", None)]
)
def test_what_is_something_else_is_refused(validator: Draft202012Validator, key: str, value: object) -> None:
    plain = to_json(synthetic.empty())  # of which nothing else has to be looked through
    validator.validate(plain)
    with pytest.raises(ValidationError):
        validator.validate({**plain, key: value})


def test_every_field_is_required_and_those_with_a_text_have_it() -> None:
    schema = results_schema()
    case = schema["$defs"]["CaseResult"]  # type: ignore[index]
    assert set(case["required"]) == set(case["properties"])
    assert case["properties"]["started"]["description"].startswith("ns since the epoch")


def test_the_schema_of_the_docs_is_this_one() -> None:
    published = Path(ROOT / "docs/reference/results.schema.json")
    assert json.loads(published.read_text()) == results_schema(), "python tools/reference.py"
