"""Lines become operations by patterns: ready ones, a user's own, one line or two; whatever the lines are."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pileup.builtin.logs.monitor import LogMonitor
from pileup.builtin.logs.presets import FORMATS
from pileup.builtin.logs.reader import MOST_OPEN, Reader
from pileup.builtin.logs.times import Times, number_of, numbers_of
from pileup.plugin import Outcome

S, MS = 10**9, 10**6
AT = 1_795_647_601
"""2026-11-25 23:00:01 UTC."""
Told = dict[str, Any]


def reader(**options: Any) -> Reader:
    return Reader(LogMonitor(file="x", zone="UTC", **options)._layout)


def told(found: Reader, *lines: str) -> list[Told]:
    """What some lines say, and nothing more comes."""
    rows: list[Told] = []
    for columns in (found.read(lines), found.read(())):
        for at, name in enumerate(columns.names):
            numbers = {word: values[at] for word, values in columns.numbers.items()}
            labels = columns.labels[at] if columns.labels else {}
            rows.append(
                {"name": name, "key": columns.keys[at], "error": columns.errors[at], "labels": labels, **numbers}
            )
    return rows


ACCESS = '127.0.0.1 - - [25/Nov/2026:23:00:01 +0000] "GET /a%20b?c HTTP/1.1" 200 99 "-" "it \\"is\\" me"'


@pytest.mark.parametrize(
    ("name", "lines", "expected"),
    [
        (
            "nginx",
            [f"{ACCESS} 0.012 {AT}.123 77", '::1 - u [25/Nov/2026:23:00:01 +0000] "\\x16\\x03" 400 0 "-" "-" 0.000'],
            [
                {"name": "GET", "key": "a b?c", "start": AT * S + 111 * MS, "end": AT * S + 123 * MS, "parent": 77},
                {"name": "invalid", "start": AT * S, "end": AT * S, "outcome": Outcome.FAILED, "parent": 0},
            ],
        ),
        (
            "apache",
            [f"{ACCESS} 1234 {AT}123456 77", f"{ACCESS} 1234"],
            [
                {"start": AT * S + 123_456_000, "end": AT * S + 124_690_000, "parent": 77, "labels": {"status": "200"}},
                {"start": AT * S, "end": AT * S + 1_234_000, "parent": 0, "bytes": 99},
            ],
        ),
        (
            "practice",
            [
                "id,method,path,arrived,began,first_byte,ended,service,status,bytes_in,bytes_out,fault,note",
                f'7,GET,"/a,""b""",{AT}000000001,{AT}000000002,{AT}000000003,{AT}000000004,5,200,6,8,,x',
                f"7,GET,/a,{AT}000000001,0,0,{AT}000000004,5,0,6,8,reset,",
            ],
            [
                {
                    "key": 'a,"b"',
                    "start": AT * S + 1,
                    "first_byte": AT * S + 3,
                    "end": AT * S + 4,
                    "bytes": 8,
                    "parent": 7,
                },
                {"first_byte": 0, "outcome": Outcome.FAILED, "error": "reset"},
            ],
        ),
        (
            "xrootd",
            [
                "261125 23:00:01.000100 32 p7.31:24@h Xrootd_Protocol: 0003 req=read dlen=20",
                "261125 23:00:01.000150 32 pileup.31:25@h Xrootd_Protocol: 0003 req=stat dlen=20",
                "261125 23:00:01.000200 32 p7.31:24@h Xrootd_Response: 0003 sending 91 data bytes; status=4000",
                "261125 23:00:01.000300 32 p7.31:24@h Xrootd_Response: 0003 sendfile 10000 data bytes",
                "261125 23:00:01.000400 32 pileup.31:25@h Xrootd_Response: 0003 sending err 3011: no such file a",
                "261125 23:00:02 32 XrootdXeq: p7.31:24@h disc 0:00:00",
            ],
            [
                {"name": "read", "start": AT * S + 100_000, "end": AT * S + 300_000, "bytes": 10_000, "client": 7},
                {
                    "name": "stat",
                    "outcome": Outcome.FAILED,
                    "error": "3011: no such file a",
                    "client": -1,
                },
            ],
        ),
        (
            "dcache-billing",  # as the dCache book has it: 2019-08-05 in an installation of its own
            [
                "## Current format",
                "08.05 07:47:49 [pool:pool1:transfer] [0000FA,964544] [/home/t/f-1] <Unknown>:<Unknown>@osm 964544 323"
                ' true {Http-1.1:0:0:0:WebDAV-dcache:dCacheDomain:/home/t/f-1} [door:WebDAV-dcache@d:AA:1564] {0:""}',
                '08.05 07:47:49 [door:WebDAV-dcache@d:request] ["t":1000:1000:0:0:1] [0000FA,964544] [/home/t/f-1]'
                ' <Unknown>:<Unknown>@osm 681 0 {10006:"no pool"}',
                '08.05 07:48:19 [door:WebDAV-dcache@d:remove] ["t":1:1:unknown] [0000FA,9] [/home/f-1] <U> 0 0 {0:""}',
            ],
            [
                {"name": "transfer", "key": "/home/t/f-1", "bytes": 964_544, "labels": {"server": "pool:pool1"}},
                {"name": "request", "outcome": Outcome.FAILED, "error": "no pool"},
            ],
        ),
        (
            "dcache-access",
            [
                "level=INFO ts=2019-08-05T07:47:49.337+0000 event=org.dcache.webdav.request request.method=PUT "
                "request.url=http://h:2880/home/f-1 response.code=307 location=http://[::1]:23981/home/f-1?u=c3 "
                "socket.remote=[::1]:39720 transaction=door:WebDAV-dcache@d:AAWPWeyoBWg:1564991268926000",
            ],
            [{"name": "PUT", "key": "home/f-1", "start": 1_564_991_268_926 * MS, "end": 1_564_991_269_337 * MS}],
        ),
        (
            "postgresql",
            [
                "2026-11-25 23:00:01.123 UTC [42] LOG:  duration: 12.345 ms  statement: SELECT * FROM a",
                "\tWHERE b = 7",
                "2026-11-25 23:00:01.123 UTC [42] u@d LOG:  duration: 2.5 ms  execute <unnamed>: SELECT $1",
                "2026-11-25 23:00:01.123 UTC [42] DETAIL:  parameters: $1 = '8'",
                "2026-11-25 23:00:02.000 UTC [42] LOG:  duration: 2.5 ms  plan:",
                "\tQuery Text: SELECT 1 FROM b",
                "\tSeq Scan on b  (cost=0.00..35.50 rows=2550 width=4)",
            ],
            [
                {"name": "SELECT * FROM a WHERE b = ?", "end": AT * S + 123 * MS, "start": AT * S + 110_655_000},
                {"name": "SELECT $1"},
                {"name": "SELECT ? FROM b"},
            ],
        ),
    ],
)
def test_ready_formats(name: str, lines: list[str], expected: list[Told]) -> None:
    rows = told(reader(format=name), *lines)
    assert len(rows) == len(expected)
    for row, wanted in zip(rows, expected, strict=True):
        assert {key: row[key] for key in wanted} == wanted


OWN = r"^(?P<time>\S+) (?P<operation>\w+) (?P<key>\S+) took (?P<took>\S+) (?P<status>\d+) by (?P<disk>\w+)"


def test_a_pattern_of_a_user_with_labels_unit_and_clock() -> None:
    found = reader(
        pattern=OWN, unit="ms", clock="16 min", failed="5..", labels=["disk"], prefix="/data/", stamp="begin"
    )
    first, second = told(
        found,
        "2026-11-25T23:00:01.5Z read /data/a took 2.5 200 by d1",
        "2026-11-25T23:00:01+01:00 read b took 0 503 by d2",
        "nothing",
    )
    assert (first["start"], first["end"]) == ((AT - 960) * S + 500 * MS, (AT - 960) * S + 502_500_000)
    assert (first["key"], first["labels"], first["outcome"]) == ("a", {"disk": "d1"}, Outcome.PASSED)
    assert (second["start"], second["outcome"]) == ((AT - 960 - 3600) * S, Outcome.FAILED)
    assert (found.other, found.unreadable) == (1, 0)


def test_two_lines_that_are_out_of_order_or_alone_are_counted() -> None:
    found = reader(
        begins=r"^(?P<time>\S+) begin (?P<join>\w+) (?P<key>\w+)", ends=r"^(?P<time>\S+) end (?P<join>\w+)", time="s"
    )
    lines = ["begin a x", "begin b y", "end b", "end c", "begin a z", "end a"]
    rows = told(found, *(f"{AT + number} {line}" for number, line in enumerate(lines)))
    assert [(row["key"], (row["end"] - row["start"]) // S) for row in rows] == [("y", 1), ("z", 1)]
    assert (found.unpaired, found.open) == (2, 0)


def test_operations_that_never_end_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pileup.builtin.logs.reader.MOST_OPEN", 100)
    found = reader(begins=r"^(?P<time>\d+) b (?P<join>\d+)", ends=r"^(?P<time>\d+) e (?P<join>\d+)", time="s")
    told(found, *(f"{AT} b {number}" for number in range(1000)))
    assert (found.open, found.unpaired) == (100, 900)
    assert MOST_OPEN > 100


def test_a_line_with_a_damaged_field_is_counted_and_spoils_no_other() -> None:
    found = reader(format="nginx")
    good = f"{ACCESS} 0.012 {AT}.123 77"
    lines = [
        good,
        good.replace("25/Nov", "45/Nov").replace(f"{AT}.123 ", ""),
        good.replace(" 77", " " + "9" * 40),
        good,
    ]
    rows = told(found, *lines)
    assert [row["parent"] for row in rows] == [77, 77]
    assert found.unreadable == 2


@settings(deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.lists(st.text(max_size=200)), st.integers(0, 2**32))
def test_no_line_breaks_a_reader_and_each_is_counted(name: str, lines: list[str], seed: int) -> None:
    """Rubbish, and good lines in which some bytes were changed."""
    chance = random.Random(seed)
    good = {"nginx": f"{ACCESS} 0.012 {AT}.123 77", "apache": f"{ACCESS} 1234 {AT}123456 77"}.get(name, ACCESS)
    for _ in range(20):
        changed = list(good)
        for _ in range(chance.randrange(4)):
            changed[chance.randrange(len(changed))] = chr(chance.choice((chance.randrange(256), 0x663, 0xB2)))
        lines.append("".join(changed))
    found = reader(format=name)
    rows = told(found, *lines)
    assert all(0 < row["start"] <= row["end"] for row in rows)
    if name in ("nginx", "apache", "practice", "dcache-access", "dcache-billing"):
        assert len(rows) + found.other + found.unreadable == len(lines)


@settings(deadline=None)
@given(st.lists(st.from_regex(r"[0-9]{1,12}(\.[0-9]{1,12})?", fullmatch=True)), st.sampled_from([1, 1000, MS, S]))
def test_numbers_at_once_are_as_one_by_one(texts: list[str], unit: int) -> None:
    assert numbers_of(texts, unit) == [number_of(text, unit) for text in texts]


@pytest.mark.parametrize("text", ["", "-1", "1e3", "1_0", "٣", "1.", "1.2.3", " 1", "nan", "9" * 40])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|bounds"):
        number_of(text, 1)
    with pytest.raises(ValueError):
        numbers_of([text, "1.5"], 10)


@pytest.mark.parametrize(
    ("form", "zone", "text", "moment"),
    [
        ("iso", "UTC", "2026-11-25 23:00:01", "2026-11-25T23:00:01+00:00"),
        ("iso", "Europe/Zurich", "2026-11-25T23:00:01,25", "2026-11-25T23:00:01.250000+01:00"),
        ("iso", "Europe/Zurich", "2026-07-25T23:00:01Z", "2026-07-25T23:00:01+00:00"),
        ("%d/%b/%Y:%H:%M:%S %z", "local", "25/Nov/2026:23:00:01.5 -0830", "2026-11-25T23:00:01.500000-08:30"),
        ("%Y-%m-%d %H:%M:%S.%f", "UTC", "2026-11-25 23:00:01.000001", "2026-11-25T23:00:01.000001+00:00"),
        ("ms", "UTC", "1795647601500", "2026-11-25T23:00:01.500000+00:00"),
    ],
)
def test_times(form: str, zone: str, text: str, moment: str) -> None:
    expected = round(datetime.fromisoformat(moment).timestamp() * MS) * 1000
    assert Times(form, zone).column([text, text]) == [expected, expected]


def test_a_time_without_a_year_is_the_last_one() -> None:
    (found,) = Times("%m.%d %H:%M:%S", "UTC").column(["11.25 23:00:01"])
    assert -366 * 86_400 < found / S - datetime.now(UTC).timestamp() < 2 * 86_400
    assert datetime.fromtimestamp(found / S, UTC).strftime("%m-%d %H:%M:%S") == "11-25 23:00:01"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pattern": "("}, "`pattern` is no regular expression"),
        ({"pattern": r"(?P<took>\d+)"}, "has no field `time`"),
        ({"pattern": r"(?P<time>\d+)"}, "does not say how long"),
        ({"pattern": OWN, "begins": "x"}, "there are `pattern` and `begins`; expected `pattern` alone"),
        ({"begins": "x"}, "there is only `begins`; expected `pattern` alone, or `begins` and `ends`"),
        ({"format": "nginx", "begins": "x"}, "`format: nginx` gives `pattern`.*leave out `format`, and give both"),
        ({"format": "nginx", "begins": "x", "ends": "y"}, "`format: nginx` gives `pattern`.*leave out `format`$"),
        ({}, "nothing says what an operation is"),
        ({"begins": r"(?P<time>\d+)", "ends": r"(?P<time>\d+)"}, "do not both have a field 'join'"),
        ({"pattern": OWN, "labels": ["door"]}, "`labels` has 'door'"),
        ({"pattern": OWN, "time": "day"}, "'day' is no format of times; expected s, ms"),
        ({"pattern": OWN, "time": "%H:%M"}, "does not say month and day"),
        ({"pattern": OWN, "time": {"moon": "s"}}, "`time` has 'moon'"),
        ({"pattern": OWN, "zone": "Europe/Nowhere"}, "there is no time zone"),
        ({"pattern": OWN, "zone": "../etc"}, "there is no time zone"),
        ({"format": "iis"}, "Input should be 'nginx'|Input should be ''"),
    ],
)
def test_what_a_suite_says_wrongly_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, ValidationError), match=said):
        LogMonitor(file="x", **options)
