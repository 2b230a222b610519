"""The log of slow queries: entries as MariaDB writes them, in pieces, and statements without their literals."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup.builtin.database.slow_log import LONGEST, LONGEST_KIND, Lines, SlowLog, kind_of
from pileup.plugin import PluginError

STARTED = """\
/usr/sbin/mariadbd, Version: 10.11.19-MariaDB-0+deb12u1-log (Debian 12). started with:
Tcp port: 0  Unix socket: /tmp/db.sock
Time\t\t    Id Command\tArgument
"""
FIRST = """\
# Time: 261121 17:33:28
# User@Host: root[root] @ localhost []
# Thread_id: 4  Schema: pileup  QC_hit: No
# Query_time: 0.021816  Lock_time: 0.000075  Rows_sent: 1  Rows_examined: 292
# Rows_affected: 0  Bytes_sent: 104
use `pileup`;
SET timestamp=1795282408;
select
  sleep(0.02) -- a comment; here
# another one
, count(*) from jobs where name = 'it''s; x';
"""
SECOND = """\
# User@Host: slurm[slurm] @  [127.0.0.1]
# Thread_id: 5  Schema:   QC_hit: No
# Query_time: 12.500000  Lock_time: 2.000000  Rows_sent: 0  Rows_examined: 50000
# Rows_affected: 7  Bytes_sent: 11
SET timestamp=1795282409.250000;
update a set b = 1 where c in (1, 2, 3);
# User@Host: root[root] @ localhost []
# Thread_id: 6  Schema:   QC_hit: No
# Query_time: 1.000000  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0
SET timestamp=1795282410;
# administrator command: Quit;
"""


def test_entries_are_read_as_the_server_writes_them() -> None:
    first, second = Lines().entries((STARTED + FIRST + SECOND + STARTED).splitlines())
    assert first.kind == "select sleep(?) , count(*) from jobs where name = ?"
    assert (first.begin, first.took, first.locked) == (1795282408 * 10**9, 21_816_000, 75_000)
    assert (first.examined, first.sent, first.size, first.schema, first.user) == (292, 1, 104, "pileup", "root")
    assert second.kind == "update a set b = ? where c in (?, …)"
    assert (second.begin, second.took, second.locked) == (1795282409_250_000_000, 12_500_000_000, 2_000_000_000)
    assert (second.schema, second.user) == ("", "slurm")


@pytest.mark.parametrize("text", ["", "noise\n", FIRST[:290], FIRST.replace("Query_time: 0.021816", "Query_time: x")])
def test_what_is_no_entry_is_left_out(text: str) -> None:
    assert list(Lines().entries(text.splitlines())) == []


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("SELECT 1", "SELECT ?"),
        (
            "SELECT * FROM t1 WHERE a2 = -5.3e4 AND h = x'41' AND g = 0xFF;",
            "SELECT * FROM t1 WHERE a2 = -? AND h = ? AND g = ?",
        ),
        ("SELECT 'it''s \\' x', \"q;\n\", N'y'", "SELECT ?, …"),
        ("INSERT INTO a_1 (x, y) VALUES (1, 'a'), (2, 'b'),(3,'c')", "INSERT INTO a_1 (x, y) VALUES (?, …), …"),
        ("SELECT a /* 'secret */, `b 7` FROM c -- d\nWHERE e IN ( 1 )", "SELECT a , `b 7` FROM c WHERE e IN (?)"),
        ("SELECT 'cut in the mid", "SELECT ?"),
        ("# administrator command: Quit;", ""),
        ("", ""),
    ],
)
def test_statements_without_their_literals(statement: str, kind: str) -> None:
    assert kind_of(statement) == kind


@given(
    st.text(alphabet=st.characters(blacklist_characters="'\\", blacklist_categories=["Cs"]), max_size=30), st.integers()
)
def test_no_literal_is_left_in_a_kind(secret: str, number: int) -> None:
    assert kind_of(f"SELECT a FROM b WHERE c = '{secret}' AND d = {abs(number)}") == (
        "SELECT a FROM b WHERE c = ? AND d = ?"
    )


def test_of_a_long_statement_only_its_begin_is_kept() -> None:
    head, end = FIRST.partition("select\n")[0], "drop table x;"
    lines = Lines()
    long = [*head.splitlines(), "SELECT 1", *["  , 'a value of some length'"] * 100_000]
    assert list(lines.entries(long)) == []
    assert sum(map(len, lines._statement)) < 2 * LONGEST
    (found, other) = lines.entries([end, *head.splitlines(), end])
    assert found.kind.startswith("SELECT ?, …")
    assert other.kind == "drop table x"


@given(st.text(max_size=400))
def test_any_text_has_a_kind(text: str) -> None:
    assert len(kind_of(text)) <= LONGEST_KIND


@pytest.fixture
def opened() -> Iterator[Callable[..., SlowLog]]:
    """Opens logs, and closes them."""
    found: list[SlowLog] = []

    def make(path: Path, since: int = 0) -> SlowLog:
        found.append(SlowLog(path, since))
        return found[-1]

    yield make
    for each in found:
        each.close()


@pytest.mark.parametrize("size", [1, 7, 50, 300])
def test_a_growing_file_is_read_in_pieces(opened: Callable[..., SlowLog], tmp_path: Path, size: int) -> None:
    path = tmp_path / "slow.log"
    path.write_text(STARTED)
    log, found = opened(path), []
    with path.open("a") as file:
        for at in range(0, len(FIRST + SECOND), size):
            file.write((FIRST + SECOND)[at : at + size])
            file.flush()
            found += list(log.entries())
    assert [(each.took, each.kind[:6]) for each in found] == [(21_816_000, "select"), (12_500_000_000, "update")]


def test_a_file_that_begins_anew_is_read_from_its_begin(opened: Callable[..., SlowLog], tmp_path: Path) -> None:
    path = tmp_path / "slow.log"
    path.write_text(STARTED + FIRST + SECOND)
    log = opened(path)
    assert len(list(log.entries())) == 2
    path.write_text(FIRST)  # emptied
    assert len(list(log.entries())) == 1
    (tmp_path / "new").write_text(STARTED + FIRST + SECOND)
    (tmp_path / "new").replace(path)  # another file, longer than the old one
    assert len(list(log.entries())) == 2


def test_a_file_that_is_not_there_yet(opened: Callable[..., SlowLog], tmp_path: Path) -> None:
    log = opened(tmp_path / "slow.log")
    with pytest.raises(PluginError, match=r"there is no file .*slow.log; expected the log of slow queries"):
        list(log.entries())
    (tmp_path / "slow.log").write_text(FIRST)
    assert len(list(log.entries())) == 1


def test_what_ended_before_is_left_out(opened: Callable[..., SlowLog], tmp_path: Path) -> None:
    path = tmp_path / "slow.log"
    path.write_text(STARTED + FIRST + SECOND)
    assert len(list(opened(path, 1795282409 * 10**9).entries())) == 2  # the log reports seconds
    assert [each.user for each in opened(path, 1795282410 * 10**9).entries()] == ["slurm"]
    assert list(opened(path, 1795282450 * 10**9).entries()) == []
