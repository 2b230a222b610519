"""Labels of the suites that come with pileup: each has all features, in the words of the vocabulary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.suite.labels import VOCABULARY, labels_of
from pileup.suite.shipped import shipped_suites


@pytest.mark.parametrize("path", shipped_suites().values(), ids=lambda path: path.name)
def test_a_shipped_suite_has_all_labels_in_the_words_of_the_vocabulary(path: Path) -> None:
    found = labels_of(path)
    assert list(found) == list(VOCABULARY)
    assert [word for feature, word in found.items() if word not in VOCABULARY[feature]] == []


def test_every_word_is_used() -> None:
    used = [labels_of(path) for path in shipped_suites().values()]
    for feature, words in VOCABULARY.items():
        assert {each[feature] for each in used} == set(words), feature


def test_the_table_has_a_line_for_each_suite(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "suites", "--labels"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["suite", *VOCABULARY]
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("suite:")}
    assert rows["suite:storage-check"] == ["automatic", "single", "production", "client", "check"]
    assert len(rows) == len(shipped_suites())
    assert "  production  services in use: it leaves nothing behind, and presses nothing" in lines


def test_labels_are_of_suites_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "suites", "--labels", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out).values()
    assert all(set(each["labels"]) == set(VOCABULARY) for each in found)
    assert main(["list", "tests", "--labels"]) == 2
    assert "expected it with `pileup list suites` alone" in capsys.readouterr().err
    assert labels_of(Path(__file__)) == {}
