"""The server is killed, pileup is stopped, the machine is busy, the system is dead."""

import pytest

from pileup.model.results import CaseResult
from pileup.record import RunFolder
from tests.truth import conditions
from tests.truth.compared import SECOND, Seen, counts, lines, rate, rows, share, wrong
from tests.truth.conftest import Runs
from tests.truth.special import NEAR, excused, first_success, in_hands, recoveries

pytestmark = pytest.mark.timed


def test_t11_recovery_is_that_of_the_log(disturbed: Runs) -> None:
    found = list(recoveries(disturbed["killed"], "killed"))
    assert len(found) == conditions.FAULTS
    assert not wrong(iter(found))


def test_t11_the_mean_recovery_is_that_of_the_log(disturbed: Runs) -> None:
    run = disturbed["killed"]
    faults = [event for event in run.results.events if event.kind == "fault"]
    told = {fault.fault: fault.recovery.value for fault in run.results.faults}
    assert len(told) == len(faults) == conditions.FAULTS
    for event, killed in zip(faults, run.servers["killed"].lines("killed"), strict=True):
        truth = killed["time"] + first_success(run, "killed", killed["time"]) - event.begin
        assert abs(told[event.fault] - truth) < NEAR + run.late(event.begin, event.begin + round(truth))


def test_what_passed_under_kills_is_what_was_answered(disturbed: Runs) -> None:
    run = disturbed["killed"]
    seen = Seen(run, "killed")
    answered = sum(each.passed for each in seen.due)
    assert abs(seen.told.counts.passed - answered) <= conditions.FAULTS
    assert rate(seen).agrees
    told = seen.told.counts
    assert told.ended + told.missed == round(seen.condition.rate * seen.condition.length)


@pytest.mark.parametrize("name", ["in_hands", "killed"])
def test_t8_what_was_in_its_hands_at_the_kill_is_ambiguous(disturbed: Runs, name: str) -> None:
    run = disturbed[name]
    found = rows(run, name)
    hands = in_hands(run, name)
    if name == "in_hands":
        assert len(hands) == conditions.HANDS
    assert hands
    assert {found[number]["outcome"] for number in hands} == {"ambiguous"}


def test_t23_after_a_refused_connection_a_client_pauses(disturbed: Runs) -> None:
    """It grows from 100 ms to 1 s: some 8 attempts of each of the 8 clients in 3 s, not 100,000."""
    run = disturbed["nobody"]
    (killed,) = run.servers["nobody"].lines("killed")
    attempts = [row for row in rows(run, "nobody").values() if row["start"] > killed["time"]]
    assert 8 <= len(attempts) <= 8 * 15
    case = run.case("nobody")
    assert any("pause" in told for told in (*case.notes, *(each.operation for each in case.operations))), "it is said"


def test_t23_pauses_take_no_cpu(disturbed: Runs) -> None:
    run = disturbed["nobody"]
    (used,) = [each for each in run.results.series if (each.monitor, each.metric) == ("pileup", "cpu")]
    assert sum(used.values) / len(used.values) < 20, "% of a core"


def test_t9_a_stop_of_pileup_excuses_that_time_alone(disturbed: Runs) -> None:
    """0.4 s of 10 s: at most 10 % of the time."""
    run = disturbed["stopped"]
    begin, end = run.stopped
    assert 0.35 * SECOND < end - begin < 0.6 * SECOND
    line = excused(run)
    assert line.agrees, line


def test_what_was_due_while_pileup_was_stopped_is_counted(disturbed: Runs) -> None:
    run = disturbed["stopped"]
    assert not wrong(lines(run, "stopped"))


def test_t6_a_stop_of_pileup_is_not_blamed_on_the_server(disturbed: Runs) -> None:
    run = disturbed["stopped_closed"]
    begin, end = run.stopped
    assert end - begin > 2.9 * SECOND
    case: CaseResult = run.case("stopped_closed")
    assert [note for note in case.notes if "coordinated omission" in note] == []
    assert [event for event in run.results.events if event.kind == "generator"]


def test_t3_a_dead_system_beside_busy_loops_has_failed(on_busy_machine: Runs) -> None:
    run = on_busy_machine["dead"]
    seen = Seen(run, "dead")
    assert run.exit_code == 1, run.results.limit
    assert seen.case.outcome == "failed"
    assert seen.told.rate.value == 0
    assert not wrong(counts(seen))
    assert seen.told.not_passed.value == 1
    assert str(run.criterion("D1").verdict) in {"not met", "not met, not shown"}


def test_figures_on_a_busy_machine_are_those_of_the_log(on_busy_machine: Runs) -> None:
    run = on_busy_machine["busy"]
    seen = Seen(run, "busy")
    assert rate(seen).agrees
    assert not wrong(counts(seen))
    assert share(seen).agrees
    assert run.exit_code == 0


def test_frames_and_rows_count_the_same(disturbed: Runs) -> None:
    """What the screen shows while a run goes on is what the record has in the end."""
    run = disturbed["killed"]
    case = run.case("killed")
    frames = [frame for frame in RunFolder.open(run.folder).frames() if frame.case == case.id]
    counted = [row for frame in frames for row in frame.rows if row.iteration]
    found = rows(run, "killed")
    for outcome in ("passed", "failed", "ambiguous", "refused"):
        told = sum(getattr(row, outcome) for row in counted)
        assert told == sum(row["outcome"] == outcome for row in found.values()), outcome
