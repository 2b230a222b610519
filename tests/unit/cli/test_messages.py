"""What others wrote is shown on the screen, and never obeyed by the terminal."""

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from pileup import cli
from pileup.cli.console import SafeConsole
from pileup.cli.messages import echo, plain, print_problem

FOREIGN = "\x1b]0;owned\x07\x1b[2J\x9b1m\x00\r\u202egnp.exe\u2066"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]")


def test_s20_control_characters_are_written_out() -> None:
    assert plain("\x1b[2J") == "\\x1b[2J"
    assert plain("\u202e") == "\\u202e"
    assert plain("é\t→\n日本") == "é\t→\n日本"


def test_s20_lines_and_problems_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    echo(FOREIGN)
    echo(Path(FOREIGN.replace("\0", "")), err=True)
    print_problem(FOREIGN, FOREIGN, FOREIGN)
    said = capsys.readouterr()
    assert "owned" in said.out + said.err
    assert not RAW.search(said.out + said.err)


@pytest.mark.parametrize("coloured", [True, False])
def test_s20_tables_are_plain_and_keep_their_colours(coloured: bool) -> None:
    out = StringIO()
    console = SafeConsole(file=out, force_terminal=coloured, width=100)
    table = Table(title=Text(FOREIGN), caption=FOREIGN)
    table.add_column(Text(FOREIGN))
    table.add_row(Text(FOREIGN, "red"))
    for each in (table, Text(FOREIGN, "bold"), Markdown(FOREIGN)):
        console.print(each)
    said = out.getvalue()
    assert "\\x1b" in said
    assert ("\x1b[31m" in said) is coloured
    assert not RAW.search(re.sub("\x1b\\[[0-9;]*m", "", said))


def test_s20_there_is_one_way_to_the_screen() -> None:
    folder = Path(cli.__file__).parent
    others = [
        f"{path.name}: {found[0]}"
        for path in sorted(folder.rglob("*.py"))
        if path.name not in ("messages.py", "console.py")
        for found in re.finditer(r"click\.s?echo\(|(?<!\w)(?:Console|print)\(", path.read_text())
        if not path.read_text()[: found.start()].endswith("console.")
    ]
    assert others == []
