"""Tables of the screen: aligned where they fit, a block for each row where they do not, and nothing is lost."""

import io
import string

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from pileup.cli.show.layout import Column, Grid, Paragraph

WORDS = st.lists(st.text(string.ascii_letters + "[]0123456789", min_size=1, max_size=12), min_size=1, max_size=6)


def shown(part: object, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width).print(part, highlight=False)
    return stream.getvalue()


def grid() -> Grid:
    made = Grid(
        (Column(""), Column("Case", "fold"), Column("Rate", "right", "/s"), Column("p99", "right", "ms")), "Times"
    )
    made.add("✓", "read", "3,160", "11.8")
    made.add("✗", "[red]write", "40", "-", line=Text("✗ write: slow"))
    made.notes.append("and 3 more")
    return made


def test_a_unit_stands_once_above_its_numbers() -> None:
    lines = [line.split() for line in shown(grid(), 80).splitlines()]
    assert lines[:3] == [["Times"], ["Case", "Rate", "p99"], ["/s", "ms"]]
    assert lines[4:] == [["✓", "read", "3,160", "11.8"], ["✗", "[red]write", "40", "-"], ["and", "3", "more"]]


def test_a_narrow_screen_has_blocks_with_the_units_behind_the_numbers() -> None:
    assert shown(grid(), 18).splitlines() == [
        "Times",
        "✓ read",
        "  Rate 3,160 /s",
        "  p99 11.8 ms",
        "✗ write: slow",
        "and 3 more",
    ]


def test_sections_stand_between_rows_whose_columns_stay_aligned() -> None:
    made = Grid((Column("Metric"), Column("Change", "right")))
    made.section("read")
    made.add("p99", "+5 %")
    made.section("write")
    made.add("throughput", "-1 %")
    lines = shown(made, 40).splitlines()
    assert [line.rstrip() for line in (lines[0], *lines[2:])] == [
        "Metric      Change",
        "read",
        "p99           +5 %",
        "write",
        "throughput    -1 %",
    ]


def test_a_paragraph_is_indented_from_its_second_line_on() -> None:
    assert shown(Paragraph(Text("one two three four five")), 16).splitlines() == ["one two three", "  four five"]
    assert shown(Paragraph(Text("one two three")), 13).splitlines() == ["one two three"]


@settings(deadline=None)  # the first table takes the import of rich
@given(st.lists(WORDS, min_size=1, max_size=5), st.integers(40, 200))
def test_no_line_is_wider_than_the_screen_and_no_word_is_lost(rows: list[list[str]], width: int) -> None:
    made = Grid((Column(""), *(Column(f"Title{number}", "fold") for number in range(6))))
    for words in rows:
        made.add("✓", *words)
    text = shown(made, width)
    assert max(map(len, text.splitlines())) <= width
    together = "".join(text.split())
    assert all(word[:8] in together for words in rows for word in words)
