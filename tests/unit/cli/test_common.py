"""Arguments made into values, mappings and models."""

from pathlib import Path

import pytest

from pileup.cli.common import parse_mapping, parse_settings, validated
from pileup.model.errors import UsageError
from pileup.suite.shipped import suite_path
from tests.fakes import Settings


def test_the_last_setting_of_a_name_counts() -> None:
    assert parse_settings(["a=1", "b=x=y", " a =2"]) == {"a": "2", "b": "x=y"}


def test_a_mapping_keeps_texts() -> None:
    assert parse_mapping("{threads: 8, service: {uniform: [1 ms, 2 ms]}, x: }", "--settings") == {
        "threads": "8",
        "service": {"uniform": ["1 ms", "2 ms"]},
        "x": None,
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1]", "is not a mapping"),
        ("", "is not a mapping"),
        ("{a: ", "not YAML"),
        ("{a: !x 1}", "tag"),
        ("{a: 1, a: 2}", "twice"),
    ],
)
def test_what_is_no_mapping_is_wrong_usage(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse_mapping(text, "--settings")


def test_a_model_is_made_of_texts() -> None:
    made = validated(Settings, {"threads": "8", "service": "20 ms"})
    assert made.threads == 8
    assert made.service is not None
    assert made.service.fixed == 20_000_000


def test_every_wrong_word_is_told() -> None:
    with pytest.raises(UsageError) as caught:
        validated(Settings, {"threads": "many", "sevice": "20 ms", "service": {"fixed": "1"}})
    told = str(caught.value)
    assert "`threads`: 'many' is not a number" in told
    assert "unknown word 'sevice'; expected 'service'" in told
    assert "'1' has no unit" in told


def test_one_wrong_word_is_told_in_three_parts() -> None:
    with pytest.raises(UsageError) as caught:
        validated(Settings, {"service": {"fixed": "-5 ms"}})
    told = caught.value
    assert (told.expected, told.hint) == ("a time of 0 or more", "see --help")
    assert told.what.endswith("'-5 ms' is negative")


def test_d13_a_folder_is_no_suite_and_the_suites_in_it_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        suite_path(str(tmp_path))
    assert str(raised.value) == f"{str(tmp_path)!r} is a folder; expected the file of a suite (name the file in it)"
    (tmp_path / "first.yaml").touch()
    with pytest.raises(UsageError, match=r"is a folder; expected the file of a suite \(in it: first.yaml\)"):
        suite_path(str(tmp_path))
