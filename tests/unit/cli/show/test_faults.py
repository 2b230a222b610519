"""Faults on the screen, at two widths, and in exports."""

import io
from collections.abc import Iterable

import pytest
from rich.console import Console

from pileup.cli.show.overview import print_results
from pileup.stats.tables import Table, tables
from tests.unit.builtin.reports.broken import broken


@pytest.mark.parametrize("width", [80, 160])
def test_the_table_of_faults_fits(width: int) -> None:
    stream = io.StringIO()
    print_results(broken(), Console(file=stream, width=width))
    text = stream.getvalue()
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    for told in ("3 s (2-4 s)", "7.5 failed, 1 ambiguous", "4, 4 % (2-8 %) of 200", "never, 3 of 3 times"):
        if width > 100:
            assert told in words
    assert "crash: kill" in words
    assert "never" in words


def of(name: str, found: Iterable[Table]) -> Table:
    return next(table for table in found if table.name == name)


def test_faults_are_a_table_of_exports() -> None:
    table = of("faults", tables(broken(), ()))
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [(row["fault"], row["test"], row["times"], row["never"]) for row in rows] == [
        ("crash", "submit", 2, 0),
        ("2", "poll", 1, 0),
        ("crash", "read", 3, 3),
    ]
    assert (rows[0]["recovery"], rows[0]["recovery_low"], rows[0]["recovery_high"]) == (3e9, 2e9, 4e9)
    assert (rows[0]["jobs_lost"], rows[0]["lost_share"], rows[1]["jobs_lost"]) == (4.0, 0.04, None)
