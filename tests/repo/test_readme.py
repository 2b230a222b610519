"""README.md says what is so: figures are those of docs/benchmarks.md, the wheel is that of this version."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
ROWS = re.findall(r"^\|(.+)\|$", README.partition("## Beside other tools")[2].partition("\n## ")[0], re.MULTILINE)[2:]


def measured() -> set[tuple[str, str]]:
    """Median and interval of every figure of the page of benchmarks."""
    page = (ROOT / "docs/benchmarks.md").read_text()
    cells = [[cell.strip() for cell in row.split("|")] for row in re.findall(r"^\|(.+)\|$", page, re.MULTILINE)]
    return {(row[1], row[3]) for row in cells if len(row) > 3}


def test_every_figure_beside_other_tools_was_measured() -> None:
    shown = [[cell.strip() for cell in row.split("|")] for row in ROWS]
    assert len(shown) >= 6
    assert {(row[1], row[3]) for row in shown} <= measured()


def test_rows_that_are_lost_are_shown_and_words_agree_with_intervals() -> None:
    verdicts = set()
    for row in ROWS:
        what, _, _, interval, words = (cell.strip() for cell in row.split("|"))
        low, high = (float(end) for end in interval.split(" to "))
        better = high < 1 if "speed" not in what else low > 1
        worse = low > 1 if "speed" not in what else high < 1
        wanted = {True: ("costs less", "faster"), False: ("costs more", "slower")}
        if better or worse:
            assert words in wanted[better], row
        else:
            assert words.startswith(("as fast or", "costs as much or")), row
        verdicts.add(better)
    assert verdicts == {True, False}


def test_the_wheel_that_is_installed_is_that_of_this_version() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    for page in (README, (ROOT / "docs/install.md").read_text()):
        assert set(re.findall(r"pileup-(\d[\d.]*)[-.](?:cp311|tar)", page)) == {version}
        assert "pip install pileup\n" not in page, "it is not on PyPI yet"


def test_the_first_lines_are_sentence_picture_install_and_a_run() -> None:
    order = [README.index(each) for each in ("**Load, stress", "![", "pip install", "$ pileup bench", ": passed, ")]
    assert order == sorted(order)
    assert README[: order[3]].count("\n") < 20
