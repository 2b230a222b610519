"""Operations of clients beside those of servers: shares of time, and what only one side saw."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pileup.model.joined import Joined, OneSided
from pileup.model.timed import NUMBERS
from pileup.plugin.recording import Recording
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.record.served import Source
from pileup.stats.joined import clocks, joined
from tests.manifests import run_of

S, MS = 10**9, 10**6
BEGIN = 1_795_000_000 * S
INFO = {
    "format": 1,
    "targets": [{"name": "se"}, {"name": "other"}],
    "cases": [
        {"id": 1, "name": "read", "test": "read", "target": "se", "started": BEGIN, "ended": BEGIN + 100 * S},
        {"id": 2, "name": "list", "test": "list", "target": "other", "started": BEGIN, "ended": BEGIN + 100 * S},
    ],
}
TEXTS = (b"iteration", b"read", b"/a", b"/b")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Forty iterations of 100 ms with two steps each, and one that belongs to no watched target."""
    made = RunFolder.create(tmp_path, "x", 0)
    made.save(run_of(INFO))
    rows = np.zeros(121, ROW)
    for number in range(40):
        at = BEGIN + (1 + number) * S
        for part, (parent, operation, begin, end) in enumerate(((0, 1, 0, 100), (1, 2, 10, 50), (1, 2, 50, 90))):
            row = rows[3 * number + part]
            row["id"], row["parent"] = 3 * number + part + 1, parent and 3 * number + 1
            row["operation"], row["key"], row["case"], row["phase"] = operation, 3 + part % 2, 1, 3
            row["intended"] = row["start"] = at + begin * MS
            row["end"] = at + end * MS
    rows[120] = rows[119]
    rows[120]["id"], rows[120]["parent"], rows[120]["case"] = 121, 0, 2
    writer = TableWriter(made.operations_path(0), "operations", ROW)
    writer.append(rows, list(TEXTS), ("operation", "key"))
    writer.close()
    return made


def recorded(folder: RunFolder, monitor: str, rows: list[tuple[int, str, int, int]]) -> None:
    """Have a monitor record: id of the parent, operation, begin and end."""
    record = Recording(lambda batch: folder.append_recorded(batch, Source(monitor, 0), 0), print)
    for parent, name, begin, end in rows:
        numbers = {"start": begin, "end": end, "parent": parent, "client": -1}
        record.add(name, "/x", "", None, tuple(numbers.get(column, 0) for column in NUMBERS))
    record.flush()
    folder.close()


def told(folder: RunFolder, **resolutions: int) -> tuple[tuple[Joined, ...], tuple[OneSided, ...]]:
    with folder.operations().connect() as connection:
        return joined(connection, resolutions)


def steps(number: int) -> tuple[int, int]:
    """Id and begin of the first step of an iteration."""
    return 3 * number + 2, BEGIN + (1 + number) * S + 10 * MS


def test_shares_and_what_one_side_saw(folder: RunFolder) -> None:
    """Of the first step two requests of 10 ms, of the second none in every other iteration."""
    rows = []
    for number in range(40):
        id_, at = steps(number)
        rows += [(id_, "GET", at + 1 * MS, at + 11 * MS), (id_, "GET", at + 12 * MS, at + 22 * MS)]
        if number % 2:
            rows.append((id_ + 1, "GET", at + 41 * MS, at + 71 * MS))
    rows.append((0, "OPTIONS", BEGIN - 50 * S, BEGIN - 49 * S))
    rows.append((999, "GET", BEGIN + 60 * S, BEGIN + 61 * S))
    recorded(folder, "log", rows)
    for _ in ("raw", "converted"):
        (found,), alone = told(folder)
        assert (found.test, found.operation, found.target, found.monitor) == ("read", "read", "se", "log")
        assert (found.count, found.matched, found.requests) == (80, 60, 100)
        assert (found.took, found.served) == (60 * 40 * MS, (40 * 20 + 20 * 30) * MS)
        assert found.share == pytest.approx(1400 / 2400)
        assert (found.served_p50, found.rest_p50) == (20 * MS, 20 * MS)
        assert found.served_p99 is None, "too few"
        assert [(each.side, each.name, each.count, each.measured, each.keys) for each in alone] == [
            ("client", "read", 20, True, ("/a",)),
            ("server", "GET", 1, True, ("/x",)),
            ("server", "OPTIONS", 1, False, ("/x",)),
        ]
        folder.convert()


def test_a_monitor_that_joins_nothing_has_no_table(folder: RunFolder) -> None:
    recorded(folder, "slow", [(0, "SELECT", BEGIN + 5 * S, BEGIN + 6 * S)])
    assert told(folder) == ((), ())


def test_time_of_a_server_that_works_on_is_at_most_that_of_the_client(folder: RunFolder) -> None:
    id_, at = steps(0)
    recorded(folder, "log", [(id_, "GET", at, at + 10 * S)])
    (found,), _ = told(folder)
    assert (found.served, found.took) == (40 * MS, 40 * MS)


def test_a_clock_of_whole_seconds_says_nothing_of_milliseconds(folder: RunFolder) -> None:
    """Operations of 40 ms are matched by a server whose times are seconds: how long it took is not known."""
    rows = [(steps(number)[0], "file", BEGIN + (1 + number) * S, BEGIN + (2 + number) * S) for number in range(40)]
    recorded(folder, "stream", [*rows, (0, "file", BEGIN + 60 * S, BEGIN + 61 * S)])
    (found,), alone = told(folder, stream=S)
    assert (found.count, found.matched, found.requests, found.took) == (80, 40, 40, 40 * 40 * MS)
    assert (found.served, found.share, found.resolution) == (None, None, S)
    assert (found.served_p50, found.served_p99, found.rest_p50, found.rest_p99) == (None,) * 4
    assert [(each.side, each.count) for each in alone] == [("client", 40), ("server", 1)]


def test_a_coarse_clock_is_fine_enough_for_long_operations(folder: RunFolder) -> None:
    """Requests of 40 ms by a clock of 4 ms, and by one of 5 ms, of which they take eight steps."""
    recorded(folder, "log", [(steps(k)[0], "GET", steps(k)[1], steps(k)[1] + 20 * MS) for k in range(40)])
    ((fine,), _), ((coarse,), _) = told(folder, log=4 * MS), told(folder, log=5 * MS)
    assert (fine.share, fine.served_p50, fine.resolution) == (0.5, 20 * MS, 4 * MS)
    assert (coarse.share, coarse.matched) == (None, 40)


def test_a_coarse_clock_is_seen(folder: RunFolder) -> None:
    """Operations of 40 ms: one request of whole milliseconds says what was the server's, five do not. All zero means
    milliseconds, not seconds.
    """
    for monitor, requests, took, share, step in (
        ("ms", 1, 20 * MS, 0.5, MS),
        ("zero", 1, 0, 0.0, MS),
        ("many", 5, 1 * MS, None, MS),
        ("fine", 5, 1 * MS + 1000, 5.005 / 40, 0),
        ("s", 1, 1 * S, None, S),
    ):
        recorded(
            folder,
            monitor,
            [
                (steps(k)[0], "GET", steps(k)[1] + n * took, steps(k)[1] + (n + 1) * took)
                for k in range(40)
                for n in range(requests)
            ],
        )
        found = next(each for each in told(folder)[0] if each.monitor == monitor)
        assert (found.matched, found.requests, found.resolution) == (40, 40 * requests, step), monitor
        assert found.share == (None if share is None else pytest.approx(share)), monitor


def test_clocks_are_those_of_the_events(folder: RunFolder) -> None:
    recorded(
        folder, "log", [(steps(k)[0], "GET", steps(k)[1] + 5 * S, steps(k)[1] + 5 * S + 39 * MS) for k in range(40)]
    )
    folder.convert()
    (clock,) = clocks(folder.events())
    assert clock.monitor == "log"
    assert abs(clock.ahead - 5 * S) <= MS
