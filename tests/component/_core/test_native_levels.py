"""The level of a load changed while it goes on, in native workers, threads and event loops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pileup._core._native import Press, Recorder, now
from pileup.model.program import Program, Step

NOOP = json.dumps({"protocol": "noop", "settings": {}})
PROGRAM = json.dumps(Program((Step("noop", "noop"),)).to_native())


def _load(**changes: object) -> str:
    plain: dict[str, object] = {
        "case": 1, "name": "t", "target": 0, "place": 0, "shard": 0, "shards": 1, "seed": 7, "start": 0, "kind": "open",
        "times": None, "clients": None, "rate": 100.0, "arrivals": "constant", "ramp": 0, "warm_up": 0,
        "for": 1_500_000_000, "think": None, "phase": None, "timeout": 10**9, "pacing": "normal", "workers": 1,
        "errors_in_a_row": None, "operations": None, "steered": 5000.0,
    }  # fmt: skip
    return json.dumps({**plain, **changes})


@pytest.mark.parametrize("workers", [1, 2])
def test_a_rate_told_before_it_holds_is_met_exactly_by_native_workers(tmp_path: Path, workers: int) -> None:
    recorder = Recorder(str(tmp_path / "0.table"), 0)
    start = now() + 100_000_000
    press = Press(recorder, _load(start=start, workers=workers))
    press.native(NOOP, PROGRAM)
    press.set_level(1000.0, start + 500_000_000)
    press.set_level(0.0, start + 1_000_000_000)
    assert press.wait(10)
    frame = press.frame()
    assert frame["started"] == 50 + 500
    assert frame["missed"] == 0
    recorder.close()


def test_threads_that_wait_hear_of_a_new_level_at_once(tmp_path: Path) -> None:
    recorder = Recorder(str(tmp_path / "0.table"), 0)
    press = Press(recorder, _load(rate=0.0, **{"for": 60_000_000_000}))
    press.set_level(1000.0)
    assert press.spawn() == 0
    op = press.seat(0).next()
    assert op is not None
    assert op.number == 0
    press.stop(now=True)
    assert press.wait(5)
    recorder.close()


def test_a_level_that_cannot_be_is_refused(tmp_path: Path) -> None:
    recorder = Recorder(str(tmp_path / "0.table"), 0)
    press = Press(recorder, _load())
    with pytest.raises(ValueError, match=r"5001 .*expected 0 to 5000"):
        press.set_level(5001.0)
    with pytest.raises(ValueError, match="expected a steered load"):
        Press(recorder, _load(steered=None)).set_level(5.0)
    recorder.close()


def test_what_a_trial_measures_counts_as_warm_up(tmp_path: Path) -> None:
    recorder = Recorder(str(tmp_path / "0.table"), 0)
    press = Press(recorder, _load(steered=None, trial=True, warm_up=100_000_000, **{"for": 200_000_000}))
    press.native(NOOP, PROGRAM)
    assert press.wait(10)
    assert {row["phase"]: row["passed"] for row in press.frame()["rows"] if row["passed"]} == {1: 10, 2: 20}
    recorder.close()
