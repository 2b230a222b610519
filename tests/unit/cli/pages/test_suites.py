"""The pages of suites that come with pileup."""

import pytest

from pileup.cli import main
from pileup.suite.shipped import opening, shipped_suites


def test_a_suite_is_described_with_what_it_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["describe", "suite:vendor-acceptance"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("suite:vendor-acceptance\n\nShould this storage be bought?")
    parts = [told.index(f"\n{title}\n") for title in ("Variables", "Tests", "Criteria")]
    assert parts == sorted(parts)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in told.splitlines() if "│" in line]
    assert ["clients", "250"] in rows
    assert ["fill", "storage.write", "se", "closed, 8 clients 250 times"] in rows
    assert ["C13", "A disk is replaced without loss of service", "", "none"] in rows
    assert "vendor-acceptance.yaml" in told.splitlines()[-1]


def test_an_xml_suite_is_described_too(capsys: pytest.CaptureFixture[str]) -> None:
    name = next(each for each in shipped_suites() if each.endswith(".xml"))
    assert main(["describe", f"suite:{name}", "--format", "md"]) == 0
    assert "## Criteria" in capsys.readouterr().out


def test_a_suite_that_there_is_not_is_told_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "suite:first-rnu"]) == 2
    assert "expected 'suite:first-run'" in capsys.readouterr().err


@pytest.mark.parametrize("name", shipped_suites())
def test_every_suite_begins_with_the_question_that_it_answers(name: str) -> None:
    first = opening(shipped_suites()[name].read_text()).splitlines()[0]
    assert len(first) > 20
    assert not first.startswith(("#", "<", " "))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# One.\n#\n#     pileup run\npileup: 1\n# no", "One.\n\n    pileup run"),
        ("<!-- One.\n\n         pileup run\n-->\n<suite/>", "One.\n\npileup run"),
        (
            '<?xml version="1.0"?>\n<!-- One, on\n     two lines.\n\n         pileup run\n-->',
            "One, on\ntwo lines.\n\n    pileup run",
        ),
        ("pileup: 1", ""),
    ],
)
def test_the_comment_that_a_suite_begins_with_is_taken(text: str, told: str) -> None:
    assert opening(text) == told
