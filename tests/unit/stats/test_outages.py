"""What faults do to loads: counted by outcome, timed to the first success."""

import duckdb
import pytest

from pileup.model.results import Event, Outage
from pileup.stats.outages import with_outages

Row = tuple[int, int, int, str, str, int]


def told(rows: list[Row], *faults: int) -> list[Event]:
    """Return faults at these times; rows are (case, start, end, outcome, phase, parent)."""
    connection = duckdb.connect()
    connection.execute(
        'CREATE TABLE operations (case_id INT, start BIGINT, "end" BIGINT, outcome TEXT, phase TEXT, parent INT, '
        "side TEXT DEFAULT 'client')"
    )
    connection.executemany("INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, 'client')", rows)
    events = [Event("fault", "kill of se", at, at) for at in faults]
    info = {"cases": [{"id": 1, "name": "read"}, {"id": 2, "name": "write"}]}
    return list(with_outages(connection, [Event("note", "", 0, 0), *events], info))[1:]


def row(
    start: int, end: int, outcome: str = "passed", *, case: int = 1, phase: str = "measure", parent: int = 0
) -> Row:
    return case, start, end, outcome, phase, parent


def test_what_did_not_pass_is_counted_until_the_next_fault() -> None:
    rows = [row(0, 10), row(5, 102, "ambiguous"), row(101, 103, "failed"), row(103, 150, "failed"), row(151, 170)]
    rows += [row(170, 205, "refused"), row(210, 290, "unfinished"), row(95, 98, "failed")]
    one, two = told(rows, 100, 200)
    assert one.outages == (Outage("read", failed=2, ambiguous=1, refused=1, lasted=105, recovery=70),)
    assert two.outages == (Outage("read", refused=1, unfinished=1, lasted=90, recovery=None),)
    assert one.text == "kill of se; read: 2 failed, 1 refused, 1 ambiguous, the first success after 70 ns"
    assert two.text == "kill of se; read: 1 refused, 1 unfinished, no success after it"


def test_a_success_between_the_fault_and_its_effect_is_no_recovery() -> None:
    (event,) = told([row(101, 104), row(90, 110, "failed"), row(105, 109), row(120, 130)], 100)
    assert event.outages == (Outage("read", failed=1, lasted=10, recovery=30),)


def test_each_load_is_told_by_itself_and_operations_inside_do_not_count() -> None:
    rows = [row(101, 110, "failed", case=2), row(101, 109, "failed", case=2, parent=7), row(115, 120, case=2)]
    (event,) = told([row(90, 120), row(125, 130), *rows], 100)
    assert event.outages == (Outage("write", failed=1, lasted=10, recovery=20),)


@pytest.mark.parametrize("rows", [[], [row(90, 110), row(110, 120)], [row(101, 110, "failed", phase="set-up")]])
def test_a_fault_that_nobody_felt_has_no_outage(rows: list[Row]) -> None:
    (event,) = told([row(0, 1), *rows], 100)
    assert (event.outages, event.text) == ((), "kill of se")
