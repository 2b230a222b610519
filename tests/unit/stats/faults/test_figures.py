"""Faults over their repeats: means with intervals, jobs lost between audits, and samples for checks."""

import math
from dataclasses import replace
from typing import Any

import pytest

from pileup.model.event import Event, Outage
from pileup.model.figures import Figure
from pileup.model.submissions import AuditResult
from pileup.model.verdict import Verdict
from pileup.stats.audits import FATES, LOST, REUSED, UNKNOWN, share
from pileup.stats.faults import repeats
from pileup.stats.verdicts.criteria import Criteria
from tests.manifests import criterion_of, run_of

SECOND = 10**9


def event(at: int, name: str = "crash") -> Event:
    says = f"kill of ce at {at} s of submit"
    number = 0 if name == "crash" else 1
    return Event("fault", "a sentence", at * SECOND, (at + 2) * SECOND, "ce", fault=name, says=says, number=number)


def audit(at: int, lost: int, acknowledged: int, problem: str = "", fault: int = 0) -> AuditResult:
    fates = dict.fromkeys(FATES, 0) | {LOST: lost - lost // 2, REUSED: lost // 2}
    return AuditResult(
        number=at,
        target="ce",
        test="submit",
        fault=fault,
        after="",
        load="submit",
        time=at * SECOND,
        claims=acknowledged,
        looked=acknowledged,
        acknowledged=acknowledged,
        fates=fates,
        ghosts=0,
        lost_share=share(lost, acknowledged),
        states={},
        problem=problem,
    )


INFO = run_of(
    {
        "cases": [
            {"id": 1, "name": "submit#1", "test": "submit", "visit": 0, "point": {}},
            {"id": 2, "name": "submit#2", "test": "submit", "visit": 1, "point": {}},
            {"id": 3, "name": "poll", "test": "poll", "visit": 0, "point": {}},
        ]
    }
)
EVENTS = [Event("note", "", 0, 0), event(10), event(30), event(50, "other")]
FOUND = {
    1: (
        Outage("submit#1", failed=4, ambiguous=1, recovery=3 * SECOND, jobs_again=5 * SECOND),
        Outage("poll", recovery=1),
    ),
    2: (Outage("submit#2", failed=6, recovery=5 * SECOND, jobs_again=7 * SECOND),),
    3: (Outage("submit#2", failed=9, recovery=None),),
}
AUDITS = [audit(5, 1, 100), audit(15, 5, 200), audit(35, 11, 500), audit(60, 11, 600, "it does not answer", fault=1)]


def test_repeats_of_a_fault_have_means_with_intervals_and_losses_between_audits() -> None:
    felt = repeats.effects(EVENTS, FOUND, AUDITS, INFO)
    one, poll, other = repeats.results(felt)
    assert (one.fault, one.test, one.times, one.never) == ("crash", "submit", 2, 0)
    assert one.says == "kill of ce at 10 s of submit"
    assert one.recovery.value == 4 * SECOND
    assert one.recovery.interval is not None
    assert one.recovery.interval.low < 3 * SECOND < 5 * SECOND < one.recovery.interval.high
    assert one.jobs_again.value == 6 * SECOND
    assert (one.failed.value, one.ambiguous.value, one.refused.value) == (5, 0.5, 0)
    assert one.jobs_lost.value == 5, "4 of 100 and 6 of 300"
    assert one.lost_share.value == pytest.approx(10 / 400)
    assert one.lost_share.interval is not None
    assert (poll.test, poll.times, poll.jobs_lost.value) == ("poll", 1, None)
    assert poll.recovery.interval is None
    assert (other.fault, other.never, other.recovery.value) == ("other", 1, None)
    assert other.jobs_lost.value is None, "its audit is not complete"


def test_the_audit_of_another_fault_is_not_taken_for_that_of_this_one() -> None:
    felt = repeats.effects(EVENTS, {1: FOUND[1]}, [audit(5, 0, 10), audit(35, 3, 20, fault=1)], INFO)
    assert [each.forgotten for each in felt] == [None, None]


@pytest.mark.parametrize("unsure", [0, 1])
def test_an_audit_that_does_not_know_the_fate_of_some_says_nothing_of_losses(unsure: int) -> None:
    told = [audit(5, 1, 100), audit(15, 5, 200)]
    assert repeats.effects(EVENTS, {1: FOUND[1]}, told, INFO)[0].forgotten is not None
    told[unsure] = replace(told[unsure], fates={**told[unsure].fates, UNKNOWN: 1})
    assert repeats.effects(EVENTS, {1: FOUND[1]}, told, INFO)[0].forgotten is None


def test_an_older_record_has_no_names_of_faults() -> None:
    old = [replace(each, fault="") for each in EVENTS]
    assert repeats.effects(old, FOUND, AUDITS, INFO) == []


def judge(check: str, cases: list[Any] | None = None) -> tuple[str, Figure, str]:
    series = repeats.series(repeats.effects(EVENTS, FOUND, AUDITS, INFO))
    judge = Criteria(cases or [], series, None, monitors=frozenset({"fault"}))  # type: ignore[arg-type]  # asks no rows
    judged = judge.judge(criterion_of({"id": "C", "says": "", "check": check}))
    return judged.verdict, judged.figure, judged.reason


@pytest.mark.parametrize(
    ("check", "verdict", "value"),
    [
        ("max(fault.recovery[fault=crash,test=submit]) < 6 s", Verdict.MET, 5 * SECOND),
        ("max(fault.recovery[fault=crash,test=submit]) < 4 s", Verdict.NOT_MET, 5 * SECOND),
        ("mean(fault.failed[fault=crash,test=submit]) == 5", Verdict.MET, 5),
        ("sum(fault.forgotten[fault=crash,test=submit]) <= 10", Verdict.MET, 10),
        ("max(fault.forgotten_share[fault=crash,test=submit]) < 5 %", Verdict.MET, 0.04),
        ("max(fault.jobs_again[fault=crash,test=submit]) < 1 min", Verdict.MET, 7 * SECOND),
        ("max(poll.recovery) < 1 s", Verdict.MET, 1),
        ("max(fault.recovery[fault=crash]) < 1 s", Verdict.UNKNOWN, None),
        ("max(fault.recovery[fault=nothing]) < 1 s", Verdict.UNKNOWN, None),
    ],
)
def test_checks_speak_of_them(check: str, verdict: str, value: float | None) -> None:
    found, figure, reason = judge(check)
    assert (found, figure.value) == (verdict, value if value is None else pytest.approx(value)), reason


@pytest.mark.parametrize("check", ["max(fault.recovery[fault=other]) < 1 h", "mean(submit.recovery) < 1 h"])
def test_what_never_came_back_fails_whatever_time_it_is_given(check: str) -> None:
    verdict, figure, reason = judge(check)
    assert (verdict, figure.note, reason) == (Verdict.NOT_MET, "never", "after a fault nothing passed any more")


def test_samples_are_of_their_visit() -> None:
    found = {
        (each.monitor, each.metric, each.labels): each
        for each in repeats.series(repeats.effects(EVENTS, FOUND, AUDITS, INFO))
    }
    assert found["fault", "recovery", "fault=crash,test=submit,visit=1"].values == [5.0]
    assert found["submit", "recovery", "visit=1"].values == [5.0, math.inf]
    assert found["submit", "recovery", "visit=1"].times == [30 * SECOND, 50 * SECOND]
