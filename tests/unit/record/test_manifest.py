"""run.json read and written: nothing changes, what older records lack has a meaning, what is wrong is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from pileup.model import check as checks
from pileup.model.check import Unreadable
from pileup.model.errors import RecordError
from pileup.model.manifest import Manifest, RunState, TrialResult
from pileup.model.record import CaseOutcome
from pileup.model.verdict import RunVerdict
from pileup.record import RunFolder
from pileup.record.manifest import from_json, text_of, to_json
from tests.manifests import case_of, criterion_of, run_of
from tests.support import ROOT

GOLDEN = ROOT / "tests" / "golden"
TODAY = sorted((GOLDEN / "manifests").glob("*.json"))
"""Written by runs before run.json had types, but for `stopped_by`: audits, a search, a hold, an attached target, a
study, a resumed run."""


@pytest.mark.parametrize("path", TODAY, ids=lambda path: path.stem)
def test_what_is_read_and_written_again_is_the_same(path: Path) -> None:
    known = json.loads(path.read_text())
    assert json.loads(text_of(from_json(known))) == known


def test_there_is_an_example_of_each_part() -> None:
    told = [from_json(json.loads(path.read_text())) for path in TODAY]
    cases = [case for run in told for case in run.cases]
    assert all(any(getattr(run, name) for run in told) for name in ("audits", "until", "void", "points", "not_covered"))
    assert any(case.find and case.find.measurements and case.find.answer for case in cases)
    assert any(case.hold for case in cases)


@pytest.mark.parametrize("state", ["ended", "running"])
def test_of_the_oldest_records_everything_is_kept(state: str) -> None:
    known = json.loads((GOLDEN / "0.1" / state / "run.json").read_text())
    written = to_json(from_json(known))
    assert _is_part(known, written)
    assert to_json(from_json(written)) == written


def _is_part(known: Any, whole: Any) -> bool:
    if isinstance(known, dict):
        return all(name in whole and _is_part(value, whole[name]) for name, value in known.items())
    if isinstance(known, list):
        return len(known) == len(whole) and all(map(_is_part, known, whole))
    return bool(known == whole)


def test_words_become_types() -> None:
    run = run_of({"state": "ended", "verdict": "failed", "cases": [{"id": 1, "name": "a", "outcome": "not run"}]})
    assert (run.state, run.verdict, run.cases[0].outcome) == (RunState.ENDED, RunVerdict.FAILED, CaseOutcome.NOT_RUN)


def test_a_criterion_is_read_once() -> None:
    known = criterion_of({"id": "C", "says": "so", "check": "p99(copy) < 1 s"})
    assert known.check == checks.parse("p99(copy) < 1 s")
    assert criterion_of({"id": "C", "says": "so", "check": None}).check is None


def test_a_criterion_that_nobody_can_read_is_kept_as_it_is() -> None:
    known = criterion_of({"id": "C", "says": "so", "check": "p99(copy"})
    assert isinstance(known.check, Unreadable)
    assert to_json(known)["check"] == "p99(copy"


def test_what_a_record_lacks_has_the_meaning_of_then() -> None:
    case = case_of({"find": {"trials": [{"level": 1.0, "begin": 0, "end": 1, "value": 5.0, "passed": True}]}})
    assert case.find is not None
    assert case.find.trials == (TrialResult(1.0, 0, 1, (5.0,), True, ""),)
    assert (case.find.not_passed, case.visit, case.repeat, case.outcome) == (None, -1, 1, None)
    assert run_of({"labels": None, "stopped": None, "new in 9.9": [1]}) == Manifest()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"started": "now"}, "'started' is wrong; expected a whole number"),
        ({"started": True}, "'started' is wrong; expected a whole number"),
        ({"started": 10**30}, "'started' is wrong; expected a whole number of 64 bits"),
        ({"cases": [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]}, "'cases' is wrong: two have one id"),
        ({"cases": [{"id": -1, "name": "a"}]}, "or one has an id that none can have; expected an id of each case"),
        ({"sessions": 7}, "'sessions' is wrong; expected a list of objects with started"),
        (
            {"void": [["1); DROP TABLE x; --", 1]]},
            "'void' is wrong: void[0] is ",
        ),
        ({"cases": [{"id": 1, "name": "a", "outcome": "fine"}]}, "cases[0].outcome is 'fine'; expected one of passed,"),
        ({"cases": [{"id": 1, "name": "a", "find": {}}]}, "cases[0].find.raise is None; expected a value"),
        ({"suite": [1, 2]}, "'suite' is wrong; expected an object"),
        ({"labels": {"a": 1}}, "'labels' is wrong: labels.a is 1; expected a text"),
        (
            {"not_covered": [{"what": "x", "name": "", "reason": ""}]},
            "expected one of launch, monitor, fault, setting, test",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, wrong: dict[str, Any], says: str) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"format": 1, **wrong}))
    with pytest.raises(RecordError) as caught:
        RunFolder.open(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'run.json'}: ")
    assert says in str(caught.value)
