"""What a case reports on the level that it looked for."""

from __future__ import annotations

from typing import Any

import pytest

from pileup.model.results import FoundLevel
from pileup.stats.loads.find import found, found_words
from tests.manifests import case_of

SECOND = 10**9
ASKED = "p99(read) < 50 ms, at most 1 % not passed"


def _trial(level: float, passed: bool | None, **changes: Any) -> dict[str, Any]:
    told = {"level": level, "begin": 1, "end": 2, "values": [1e6], "passed": passed, "why": "" if passed else "so"}
    return told | {"limited": False, "due": 100, "not_passed": 0} | changes


def _info(*trials: tuple[float, bool | None], by: str = "rate", **changes: Any) -> dict[str, Any]:
    find = {"raise": by, "while": "p99(read) < 50 ms", "not_passed": 0.01, "between": [10.0, 1000.0]}
    return {"find": find | {"trials": [_trial(*each) for each in trials], "measurements": []} | changes}


def _found(info: dict[str, Any]) -> FoundLevel:
    told = found(case_of(info))
    assert told is not None
    return told


KNEE = [(90.0, True), (110.0, False), (97.0, True), (103.0, False)] * 4


def test_the_answer_is_made_anew_of_the_trials_of_the_record() -> None:
    told = _found(_info(*KNEE, measured=95.0, measurements=[_trial(95.0, True)]))
    (asked,) = told.conditions
    assert (told.check, told.by, told.not_passed) == ("p99(read) < 50 ms", "rate", 0.01)
    assert (asked.figure, asked.dimension, asked.threshold) == ("p99(read)", "time", 50e6)
    assert told.limit == pytest.approx(100, rel=0.02)
    assert (told.level, told.measured, told.beyond) == (95, 95, "")
    assert told.low is not None
    assert told.high is not None
    assert told.low < 100 < told.high
    words = found_words(told)
    assert words.startswith(f"{ASKED}: the limit is {told.limit:.3g} /s (95 % interval ")
    assert words.endswith("by 16 trials; measured at 95 /s, where it holds")


def test_t2_each_condition_has_its_figure() -> None:
    both = "p90(read) < 1 s and fraction(read.refused) < 2 %"
    trials = [_trial(90.0, True, values=[5e8, 0.01]), _trial(110.0, False, values=[None, 0.5])]
    told = _found(_info(**{"while": both, "trials": trials, "not_passed": 0.05}))
    assert [each.figure for each in told.conditions] == ["p90(read)", "fraction(read.refused)"]
    assert [each.values for each in told.trials] == [(5e8, 0.01), (None, 0.5)]
    assert found_words(told).startswith(f"{both}, at most 5 % not passed: ")


def test_t2_a_level_that_missed_while_it_was_measured_is_not_the_answer() -> None:
    missed = _trial(95.0, False, why="31 of 500 that were due did not pass (31 refused)", not_passed=31)
    told = _found(_info(*KNEE, measured=95.0, measurements=[missed]))
    assert (told.level, told.measured) == (None, 95)
    assert found_words(told).endswith(
        "; not confirmed: measured at 95 /s it does not hold (31 of 500 that were due did not pass (31 refused))"
    )


def test_t2_the_answer_is_the_level_that_was_measured_last_and_held() -> None:
    before = _found(_info(*KNEE))
    told = _found(_info(*KNEE, measured=88.0, measurements=[_trial(95.0, False), _trial(88.0, True)]))
    assert (told.level, told.measured) == (88, 88)
    assert found_words(told).endswith("; measured at 88 /s, where it holds after it did not at 95 /s")
    # what was measured and missed is a trial that failed
    assert (before.low or 0) > (told.low or 0)
    assert (before.limit or 0) > (told.limit or 0)


def test_what_was_measured_may_be_unable_to_tell() -> None:
    few = _trial(95.0, None, why="too few: 9 values")
    told = _found(_info(*KNEE, measured=95.0, measurements=[few]))
    assert told.level == 95
    assert found_words(told).endswith(
        "; measured at 95 /s, which does not show whether it holds there (too few: 9 values)"
    )


def test_a_record_of_before_several_conditions_is_read() -> None:
    old = [{"level": 90.0, "begin": 1, "end": 2, "value": 1e6, "passed": True, "why": ""}]
    info = _info(measured=85.0)
    info["find"] = {word: told for word, told in info["find"].items() if word not in ("not_passed", "measurements")}
    told = _found({"find": info["find"] | {"trials": old}})
    assert (told.trials[0].values, told.not_passed, told.level, told.measurements) == ((1e6,), 1, 85, ())
    assert found_words(told).startswith("p99(read) < 50 ms: ")
    assert found_words(told).endswith("; measured at 85 /s")


def test_clients_are_whole_numbers() -> None:
    trials = [(20.0, True), (21.0, False)] * 20
    told = _found(_info(*trials, by="clients", measured=20.0, measurements=[_trial(20.0, True)]))
    assert (told.limit, told.low, told.level) == (20, 20, 20)
    assert "the limit is 20 clients (95 % interval 20-2" in found_words(told)


def test_what_lies_beyond_the_bounds_is_told() -> None:
    low, high = _found(_info(*[(10.0, False)] * 5)), _found(_info(*[(1000.0, True)] * 5))
    assert (low.level, low.limit, low.beyond) == (None, None, "below")
    assert found_words(low) == f"{ASKED} does not hold even at 10 /s, by 5 trials"
    assert (high.level, high.limit, high.beyond) == (None, 1000, "above")
    assert f"{ASKED}: it holds even at the highest level that was allowed, 1,000 /s" in found_words(high)
    assert "the search was not ended" in found_words(high)


def test_trials_that_the_generator_limited_are_told() -> None:
    info = _info(*[(90.0, True), (110.0, False)] * 4, measured=85.0, measurements=[_trial(85.0, True)])
    info["find"]["trials"][1] |= {"passed": None, "values": [None], "limited": True}
    assert "generator" not in found_words(_found(info)), "made again"
    info["find"]["trials"][3] |= {"limited": True}
    assert found_words(_found(info)).endswith(
        "; in 2 that did not pass pileup was the bottleneck, so the system may sustain more; "
        "measured at 85 /s, where it holds"
    )


def test_a_search_that_only_the_generator_ended_tells_what_was_borne() -> None:
    info = _info(*[(1000.0, True)] * 5)
    info["find"]["trials"].append(_trial(1000.0, None, values=[None], limited=True))
    assert found_words(_found(info)) == (
        f"{ASKED}: it holds at 1,000 /s at least, by 6 trials; in one that did not pass pileup was the bottleneck, "
        "so the system may sustain more; the search was not ended"
    )


def test_a_search_that_could_tell_nothing_says_why() -> None:
    told = _found(_info((10.0, None)))
    assert found_words(told) == f"nothing is known of where {ASKED} holds, by 1 trial: so"
    assert found(case_of({"test": "read"})) is None
