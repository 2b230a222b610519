"""The page of mistakes: every code is explained, its right example is right, and its wrong one has that code."""

from pathlib import Path

import pytest

from pileup.cli import main
from pileup.cli.messages import excerpt
from pileup.cli.pages.mistakes import MEANING
from pileup.model.problem_codes import ProblemCode


def test_every_code_is_explained() -> None:
    assert set(MEANING) == set(ProblemCode)
    assert all(meaning.endswith(".") for meaning, _ in MEANING.values())


@pytest.mark.parametrize("code", ProblemCode)
def test_describe_explains_it(code: ProblemCode, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", str(code)]) == 0
    told = capsys.readouterr().out
    assert told.startswith(str(code))
    assert MEANING[code][0].split()[0] in told


def test_no_code_is_a_word_of_the_suite_or_a_topic() -> None:
    from pileup.cli.pages.contents import TOPICS
    from pileup.model.suite import Suite

    assert not set(map(str, ProblemCode)) & {*TOPICS, *Suite.model_fields}


def test_a_problem_has_its_line_a_caret_and_a_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("pileup: 1\ntitle: x\ntests:\n  - {name: a, use: noop, after: [$b]}\n")
    assert main(["validate", str(path)]) == 3
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(f"{path}:4:34: there is no variable '$b'")
    assert told[0].endswith("  [unknown-variable]")
    assert told[1] == "    4 |   - {name: a, use: noop, after: [$b]}"
    assert told[2] == "      |                                  ^^"
    assert told[3] == "      = hint: write $$ for a dollar"


@pytest.mark.parametrize(
    ("line", "column", "width", "wanted"),
    [
        ("load: {fro: 10 s}", 8, 80, ("load: {fro: 10 s}", "       ^^^")),
        ("for: 10 mins", 6, 80, ("for: 10 mins", "     ^^^^^^^")),
        ("\tx: 1", 2, 80, (" x: 1", " ^")),
        ("abc", 9, 80, ("abc", "   ^")),
    ],
)
def test_a_caret_marks_the_word(line: str, column: int, width: int, wanted: tuple[str, str]) -> None:
    assert excerpt(line, column, width) == wanted


def test_of_a_long_line_the_part_with_the_word_is_shown() -> None:
    line = "a" * 300 + " fro: 1 " + "b" * 300
    part, caret = excerpt(line, 302, 60)
    assert len(part) == 60
    assert part.startswith("…")
    assert part[caret.index("^") :].startswith("fro")
    assert caret.strip() == "^^^"
