"""Places against targets on the screen."""

from __future__ import annotations

from rich.console import Console

from pileup.cli.show import matrix
from tests.unit.builtin.reports import synthetic


def shown(width: int) -> str:
    console = Console(width=width, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        for each in matrix.tables(synthetic.placed().matrices):
            console.print(each)
    return captured.get()


def test_the_tables_name_what_stands_out() -> None:
    lines = shown(200).splitlines()
    (slow,) = [line for line in lines if line.startswith("taipei") and "fnal" in line]
    (rare,) = [line for line in lines if line.startswith("chicago") and "cern" in line]
    (quiet,) = [line for line in lines if line.startswith("geneva") and "cern" in line]
    assert slow.rstrip().endswith("slow")
    assert rare.rstrip().endswith("rare slow answers, deviation above mean")
    assert "slow" not in quiet
    assert any(line.startswith("cern") and "ms" in line for line in lines), "k and c"


def test_a_narrow_screen_has_blocks() -> None:
    text = shown(60)
    assert max(map(len, text.splitlines())) <= 60
    assert "rare slow answers" in " ".join(text.split())
