"""run.json in tests: typed out of plain words, and plain out of a folder."""

import json
from collections.abc import Mapping
from typing import Any

from pileup.model.manifest import CaseEntry, CriterionEntry, Manifest
from pileup.record import RunFolder
from pileup.record.manifest import from_json, read

FIND = {"raise": "rate", "while": "p99(read) < 1 s", "between": [1.0, 100.0]}
TRIAL = {"level": 1.0, "begin": 0, "end": 1, "values": [], "passed": None, "why": ""}
HOLD = {"metric": "poll.queued", "dimension": "", "at": 5000.0, "half": 250.0, "by": "rate"}


def run_of(info: Mapping[str, Any]) -> Manifest:
    """Return a run by the words of run.json; what is not given is as in a record that lacks it."""
    cases = [_whole(case) for case in info.get("cases", ())]
    return from_json(_json({"format": 1, **info, "cases": cases}))


def case_of(told: Mapping[str, Any]) -> CaseEntry:
    """Return a case by the words of run.json."""
    return read(CaseEntry, _json({"id": 1, "name": "case", **_whole(told)}))


def _whole(case: Mapping[str, Any]) -> dict[str, Any]:
    """Fill up what a case holds or looks for."""
    words = dict(case)
    if words.get("find") is not None:
        given = {name: words["find"].get(name, ()) for name in ("trials", "measurements")}
        words["find"] = FIND | words["find"] | {name: [_trial(each) for each in some] for name, some in given.items()}
    if words.get("hold") is not None:
        words["hold"] = HOLD | words["hold"]
    return words


def _trial(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in TRIAL.items() if name != "values" or "value" not in told} | dict(told)


def _json(told: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(told))


def criterion_of(told: Mapping[str, Any]) -> CriterionEntry:
    """Return a criterion by the words of run.json."""
    return read(CriterionEntry, told)


def plain(folder: RunFolder) -> dict[str, Any]:
    """Return run.json of a folder as it is on the disk."""
    found: dict[str, Any] = json.loads((folder.path / "run.json").read_text())
    return found
