"""What faults do to loads: counted by outcome, and for how long the system was away."""

import random
from dataclasses import replace

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pileup.model.event import Event, Outage
from pileup.stats.faults.outages import outages, with_outages
from tests.manifests import run_of
from tests.support import examples

Row = tuple[int, int, int, str, str, int, str]


def outages_under(
    rows: list[Row], *faults: Event, started: dict[int, int] | None = None
) -> tuple[list[Event], dict[int, tuple[Outage, ...]]]:
    """Return what outages faults bring, by their place; rows are (case, start, end, outcome, phase, parent, name)."""
    connection = duckdb.connect()
    connection.execute(
        'CREATE TABLE operations (case_id INT, start BIGINT, "end" BIGINT, outcome TEXT, phase TEXT, parent INT, '
        "operation TEXT, side TEXT DEFAULT 'client')"
    )
    if rows:
        values = ", ".join(f"{(*each, 'client')}" for each in rows)
        connection.execute(f"INSERT INTO operations VALUES {values}")
    begins = started or {}
    cases = [{"id": at, "name": name, "started": begins.get(at)} for at, name in ((1, "read"), (2, "write"))]
    events = [Event("note", "", 0, 0), *faults]
    return events, outages(connection, events, run_of({"cases": cases}))


def told(rows: list[Row], *times: int) -> list[Event]:
    """Return faults at these times with what felt them."""
    return list(with_outages(*outages_under(rows, *(Event("fault", "kill of se", at, at) for at in times))))[1:]


def row(
    start: int, end: int, outcome: str = "passed", *, case: int = 1, phase: str = "measure", parent: int = 0
) -> Row:
    return case, start, end, outcome, phase, parent, "iteration"


def test_what_did_not_pass_is_counted_until_the_next_fault() -> None:
    rows = [row(0, 10), row(5, 102, "ambiguous"), row(101, 103, "failed"), row(103, 150, "failed"), row(151, 170)]
    rows += [row(170, 205, "refused"), row(210, 290, "unfinished"), row(95, 98, "failed")]
    one, two = told(rows, 100, 200)
    assert one.outages == (Outage("read", failed=2, ambiguous=1, first=2, lasted=50, recovery=70),)
    assert two.outages == (Outage("read", refused=1, unfinished=1, first=5, lasted=90, recovery=None),)
    assert one.text == "kill of se; read: 2 failed, 1 ambiguous (the first after 2 ns), back after 70 ns"
    assert two.text == "kill of se; read: 1 refused, 1 unfinished (the first after 5 ns), no success after it"


def test_a_fault_that_nothing_failed_of_is_not_blamed_for_the_next() -> None:
    """A restart without a failure, then a crash that broke off what was under way."""
    faults = Event("fault", "restart", 100, 110), Event("fault", "kill", 200, 210)
    rows = [row(120, 125), row(190, 195), row(198, 201, "failed"), row(220, 222)]
    _, found = outages_under(rows, *faults)
    assert found == {1: (Outage("read", recovery=25),), 2: (Outage("read", failed=1, first=1, lasted=1, recovery=22),)}
    _, found = outages_under([row(105, 205, "ambiguous"), *rows], *faults)
    assert [each.ambiguous for (each,) in found.values()] == [1, 1], "it was under way in both"


def test_a_success_between_the_fault_and_its_effect_is_no_recovery() -> None:
    (event,) = told([row(101, 104), row(90, 110, "failed"), row(105, 109), row(120, 130)], 100)
    assert event.outages == (Outage("read", failed=1, first=10, lasted=10, recovery=25),)


def test_t11_what_had_begun_before_the_first_failure_ended_proves_no_recovery() -> None:
    """Row T11: both had begun when the server was killed at 112; one of them had been answered at 110."""
    (event,) = told([row(105, 112, "failed"), row(106, 110), row(113, 114, "failed"), row(2112, 2120)], 100)
    assert event.outages == (Outage("read", failed=2, first=12, lasted=14, recovery=2014),)


def test_t11_a_failure_of_another_cause_is_not_the_outage() -> None:
    """Row T11: a command that kills after a while; some always fail; the longest outage is the fault's."""
    healthy = [row(at, at + 5, "failed" if at % 50 == 0 else "passed") for at in range(100, 300, 10)]
    away = [row(at, at + 1, "failed") for at in range(300, 700, 10)]
    again = [row(at, at + 5, "failed" if at % 50 == 0 else "passed") for at in range(710, 1000, 10)]
    (event,) = told([*healthy, *away, *again, row(1000, 1003, "failed")], 101)
    assert event.outages[0].recovery == 715 - 290
    (event,) = told([*healthy, *away, *again, *(row(at, at + 1, "failed") for at in range(1000, 1600, 10))], 101)
    assert event.outages[0].recovery is None, "it went away again, for longer, and did not come back"


def test_t11_an_answer_that_the_client_takes_late_does_not_shorten_the_outage() -> None:
    """The server was killed at 150; the client had not run from 140 to 300, and took an answer of before then."""
    (event,) = told(
        [row(105, 110), row(130, 300), row(120, 301, "failed"), row(302, 303, "failed"), row(905, 910)], 100
    )
    assert event.outages[0].recovery == 910 - 130


def test_t11_where_pileup_knows_when_the_server_was_gone_that_counts() -> None:
    """Row T11: a failure of its own before that is not the outage, nor is a success; a late timeout hides nothing."""
    kill = Event("fault", "kill of se", 100, 300, gone=115)
    rows = [row(95, 101, "failed"), row(102, 104), row(103, 900, "ambiguous"), row(310, 320), row(905, 910)]
    _, found = outages_under(rows, kill)
    assert found == {1: (Outage("read", failed=1, ambiguous=1, first=1, lasted=800, recovery=220),)}
    _, found = outages_under([row(101, 104), row(110, 160), row(116, 161)], replace(kill, text="pause of se"))
    assert found == {1: (Outage("read", recovery=61),)}, "all only waited"


def test_what_never_gets_an_answer_does_not_hide_that_the_system_is_back() -> None:
    rows = [row(102, 900, "ambiguous"), row(110, 111, "failed"), row(150, 152), row(160, 162)]
    (event,) = told(rows, 100)
    assert event.outages == (Outage("read", failed=1, ambiguous=1, first=11, lasted=800, recovery=52),)


def test_each_load_is_told_by_itself_and_operations_inside_do_not_count() -> None:
    rows = [row(101, 110, "failed", case=2), row(101, 109, "failed", case=2, parent=7), row(115, 120, case=2)]
    (event,) = told([row(90, 120), row(125, 130), *rows], 100)
    assert event.outages == (Outage("write", failed=1, first=10, lasted=10, recovery=20),)


@pytest.mark.parametrize("rows", [[], [row(90, 110), row(110, 120)], [row(101, 110, "failed", phase="set-up")]])
def test_a_fault_that_nobody_felt_has_no_outage(rows: list[Row]) -> None:
    (event,) = told([row(0, 1), *rows], 100)
    assert (event.outages, event.text) == ((), "kill of se")


def test_a_load_that_only_waited_is_back_with_what_was_begun_after_the_fault() -> None:
    _, found = outages_under(
        [row(90, 105), row(101, 160), row(110, 161), row(170, 171)], Event("fault", "pause", 100, 150)
    )
    assert found == {1: (Outage("read", recovery=60),)}


def test_a_load_that_was_over_says_nothing() -> None:
    _, found = outages_under([row(90, 105)], Event("fault", "pause", 100, 150))
    assert found == {}


def test_a_later_case_is_not_of_an_earlier_fault() -> None:
    rows = [row(90, 105), row(103, 104), row(120, 125, "failed", case=2), row(130, 135, case=2)]
    _, found = outages_under(rows, Event("fault", "kill", 100, 101), started={2: 110})
    assert found == {1: (Outage("read", recovery=4),)}


def test_jobs_run_again_once_the_fault_is_mended() -> None:
    runs = [(1, start, start + 50, "passed", "measure", 7, "run") for start in (99, 120, 170, 180, 260)]
    submits = [row(101, 102), row(210, 211)]
    _, found = outages_under([*runs, *submits], Event("fault", "kill", 100, 150), Event("fault", "kill", 200, 250))
    assert [outage.jobs_again for place in (1, 2) for outage in found[place]] == [70, 60]


@pytest.mark.long
@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32), st.integers(5, 60), st.integers(1, 40), st.integers(0, 300), st.booleans())
def test_t11_no_recovery_is_shorter_than_the_outage(seed: int, gap: int, service: int, delay: int, known: bool) -> None:
    """A server that is gone from 1,000 + delay on for 500: Poisson arrivals, exponential service, errors of its own.

    Told is at least 500, and at most what the load can show: from the answer before to the first one after.
    """
    draw = random.Random(seed)
    gone, back = 1000 + delay, 1500 + delay
    rows, at = [], 0
    while at < 4000:
        at += 1 + int(draw.expovariate(1 / gap))
        end = at + 1 + int(draw.expovariate(1 / service))
        if gone <= at < back or at < gone <= end:
            rows.append(row(at, max(at, gone) + 1, "failed"))
        else:
            rows.append(row(at, end, "failed" if draw.random() < 0.02 else "passed"))
    alive = [each for each in rows if each[3] == "passed"]
    first = min((each[2] for each in alive if each[1] >= back), default=None)
    last = max([1000, *(each[2] for each in alive if each[2] < gone)])
    felt = any(each[3] == "failed" and gone <= each[2] < back + 2 for each in rows)
    if first is None or not felt:
        return
    _, found = outages_under(rows, Event("fault", "kill", 1000, 1010, gone=gone if known else None))
    ((outage,),) = found.values()
    assert outage.recovery is not None
    assert outage.recovery >= back - gone
    if known:
        assert outage.recovery == first - 1000
    else:
        assert outage.recovery >= first - last
        assert outage.recovery < first - last + 12 * (gap + service) + 10
