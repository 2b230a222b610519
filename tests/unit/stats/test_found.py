"""What a case tells of the level that it looked for, and what a single trial says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pileup._core._native import Histogram
from pileup.model import check as checks
from pileup.model.record import Frame, FrameRow, Phase, Sample, SampleRow
from pileup.stats.found import found, found_words
from pileup.stats.gauge import Gauge
from pileup.stats.trial import Trials

SECOND = 10**9


def _info(*trials: tuple[float, bool | None], by: str = "rate", **changes: Any) -> dict[str, Any]:
    told = [
        {"level": level, "begin": 1, "end": 2, "value": 1e6, "passed": passed, "why": "" if passed else "so"}
        for level, passed in trials
    ]
    find = {"raise": by, "while": "p99(read) < 50 ms", "between": [10.0, 1000.0], "trials": told}
    return {"find": find | changes}


def test_the_answer_is_made_anew_of_the_trials_of_the_record() -> None:
    trials = [(90.0, True), (110.0, False), (97.0, True), (103.0, False)] * 4
    told = found(_info(*trials, measured=95.0))
    assert told is not None
    assert (told.check, told.figure, told.threshold, told.by) == ("p99(read) < 50 ms", "p99(read)", 50e6, "rate")
    assert told.level == pytest.approx(100, rel=0.02)
    assert told.beyond == ""
    assert found_words(told).startswith("p99(read) < 50 ms holds up to 99.9 /s (95 % interval 97")
    assert found_words(told).endswith("by 16 trials; measured at 95 /s")


def test_clients_are_whole_numbers() -> None:
    told = found(_info(*[(20.0, True), (21.0, False)] * 10, by="clients", measured=20.0))
    assert told is not None
    assert (told.level, told.low) == (20, 20)
    assert "holds up to 20 clients (95 % interval 20 clients to 2" in found_words(told)


def test_what_lies_beyond_the_bounds_is_told() -> None:
    low, high = found(_info(*[(10.0, False)] * 5)), found(_info(*[(1000.0, True)] * 5))
    assert low is not None
    assert high is not None
    assert (low.level, low.beyond) == (None, "below")
    assert found_words(low) == "p99(read) < 50 ms does not hold even at 10 /s, by 5 trials"
    assert (high.level, high.beyond) == (1000, "above")
    assert "even at the highest level that was allowed, 1 k/s" in found_words(high)
    assert "the search was not ended" in found_words(high)


def test_trials_that_the_generator_limited_are_told() -> None:
    info = _info(*[(90.0, True), (110.0, False)] * 4, measured=85.0)
    info["find"]["trials"][1] |= {"passed": None, "value": None, "limited": True}
    told = found(info)
    assert told is not None
    assert "generator" not in found_words(told), "made again"
    info["find"]["trials"][3] |= {"limited": True}
    told = found(info)
    assert told is not None
    assert found_words(told).endswith(
        "; in 2 that did not pass the generator was the limit, so the system may bear more; measured at 85 /s"
    )


def test_a_search_that_only_the_generator_ended_tells_what_was_borne() -> None:
    info = _info(*[(1000.0, True)] * 5)
    info["find"]["trials"].append(info["find"]["trials"][0] | {"passed": None, "value": None, "limited": True})
    told = found(info)
    assert told is not None
    assert found_words(told) == (
        "p99(read) < 50 ms holds at 1 k/s at least, by 6 trials; in one that did not pass the generator was the limit, "
        "so the system may bear more; the search was not ended"
    )


def test_a_search_that_could_tell_nothing_says_why() -> None:
    told = found(_info((10.0, None)))
    assert told is not None
    assert found_words(told) == "nothing is known of where p99(read) < 50 ms holds, by 1 trial: so"
    assert found({"test": "read"}) is None


INFO = {"id": 3, "name": "read", "test": "read", "load_kind": "open", "find": {"trials": []}}


def _frame(phase: Phase, milliseconds: list[int], missed: int = 0, case: int = 3) -> Frame:
    times = Histogram()
    for each in milliseconds:
        times.record(each * 1_000_000)
    row = FrameRow(
        operation="read", iteration=True, phase=phase, passed=len(milliseconds), failed=0, refused=0, ambiguous=0,
        unfinished=0, lost=0, bytes=0, calls=0, response=times.encode(), service=times.encode(),
    )  # fmt: skip
    return Frame(
        time=SECOND, nanoseconds=SECOND, place=0, case=case, phase=phase, started=0, missed=missed, in_flight=0,
        clients=4, cpu=0, late=b"", rows=(row,),
    )  # fmt: skip


def _trials(text: str, own: bool = True) -> Trials:
    check = checks.parse(text)
    selected = checks.resolve(check, ["read"], ["node"])
    return Trials(INFO, own, Gauge(check, selected, {3}.__contains__, SECOND, frozenset({selected.name})))


def test_a_trial_is_judged_by_what_was_due_after_settling() -> None:
    frames = [_frame(Phase.RAMP, [900] * 50), _frame(Phase.WARM_UP, [20] * 50)]
    trial = _trials("p90(read.response) < 50 ms").judge(frames, [], 0, SECOND, 1.0)
    assert trial.passed is True
    assert trial.value == pytest.approx(20e6, rel=0.01)
    assert _trials("p90(read.response) < 10 ms").judge(frames, [], 0, SECOND, 1.0).passed is False


def test_a_trial_that_failed_where_the_generator_was_the_limit_says_nothing_of_the_system() -> None:
    late = Histogram()
    for _ in range(50):
        late.record(60_000_000)
    frames = [replace(_frame(Phase.WARM_UP, [70] * 50), late=late.encode())]
    trial = _trials("p90(read.response) < 50 ms").judge(frames, [], 0, SECOND, 1.0)
    assert (trial.passed, trial.limited) == (False, True)
    assert trial.why.startswith("pileup was the bottleneck from ")
    assert "(starts 60 ms late)" in trial.why
    borne = _trials("p90(read.response) < 90 ms").judge(frames, [], 0, SECOND, 1.0)
    assert (borne.passed, borne.limited, borne.why) == (True, False, "")


def test_rates_are_made_of_the_time_that_answering_took() -> None:
    frames = [_frame(Phase.WARM_UP, [20] * 50)]
    assert _trials("rate(read) >= 20 /s").judge(frames, [], 0, SECOND, 2.0).value == 25


def test_a_level_that_was_not_there_is_not_met() -> None:
    frames = [_frame(Phase.WARM_UP, [20] * 50, missed=10)]
    trial = _trials("p90(read.response) < 50 ms").judge(frames, [], 0, SECOND, 1.0)
    assert (trial.passed, trial.why) == (False, "10 of 60 iterations that were due were never begun")
    nothing = [_frame(Phase.WARM_UP, [], missed=0)]
    assert _trials("p90(read.response) < 50 ms").judge(nothing, [], 0, SECOND, 1.0).passed is None


def test_too_few_values_for_a_quantile_tell_nothing() -> None:
    trial = _trials("p99.9(read.response) < 50 ms").judge([_frame(Phase.WARM_UP, [20] * 9)], [], 0, SECOND, 1.0)
    assert (trial.passed, trial.why) == (None, "too few: 9 values")


def test_a_monitor_is_looked_at_over_the_trial_alone() -> None:
    rows = [
        SampleRow(time * SECOND, "node", "here", Sample("load1", value, ""))
        for time, value in ((1, 9.0), (5, 1.0), (6, 3.0))
    ]
    trials, frames = _trials("mean(node.load1) < 5", own=False), [_frame(Phase.WARM_UP, [20] * 50)]
    assert trials.judge(frames, rows, 4 * SECOND, 7 * SECOND, 1.0).value == 2
