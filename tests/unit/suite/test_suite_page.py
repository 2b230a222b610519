"""docs/suite-file.md: every example loads, XML says what the YAML beside it says, no word of the schema is missing."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from pileup.model.loads.load import Load
from pileup.model.suite import NOT_YET, Cooldown, FaultSpec, Limits, Places, SettingSpec, Suite, TestSpec
from pileup.suite import load
from pileup.suite.problem_texts import fields_of
from tests.support import ROOT

PAGE = (ROOT / "docs/suite-file.md").read_text()
BLOCKS = re.findall(r"^```(yaml|xml)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
YAML = [text for kind, text in BLOCKS if kind == "yaml"]
HEAD = "pileup: 1\ntitle: An example\n"


def write(folder: Path, text: str, suffix: str) -> Path:
    path = folder / f"suite{suffix}"
    path.write_text(text if suffix == ".xml" or text.startswith("pileup:") else HEAD + text)
    return path


@pytest.mark.parametrize("number", range(len(YAML)))
def test_every_example_is_a_suite(number: int, tmp_path: Path) -> None:
    assert load(write(tmp_path, YAML[number], ".yaml")).cases


def test_xml_says_what_the_yaml_before_it_says(tmp_path: Path) -> None:
    pairs = [(one[1], two[1]) for one, two in pairwise(BLOCKS) if (one[0], two[0]) == ("yaml", "xml")]
    assert len(pairs) == sum(kind == "xml" for kind, _ in BLOCKS) >= 1
    for yaml, xml in pairs:
        one, other = load(write(tmp_path, yaml, ".yaml")), load(write(tmp_path, xml, ".xml"))
        assert one.suite == other.suite
        assert one.cases == other.cases


@pytest.mark.parametrize("model", [Suite, TestSpec, Load, FaultSpec, SettingSpec, Cooldown, Limits, Places])
def test_every_word_is_explained(model: type) -> None:
    for word, field in fields_of(model).items():
        extra = field.json_schema_extra
        shown = rf"`{word}`" if isinstance(extra, dict) and extra.get(NOT_YET) else rf"(`|[{{ ]|^){word}(`|:)"
        assert re.search(shown, PAGE, flags=re.MULTILINE), f"{model.__name__}.{word}"


def test_links_within_the_page_lead_somewhere() -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-")
        for line in re.findall(r"^#+ (.*)$", PAGE, re.M)
    }
    assert set(re.findall(r"\]\(#([^)]*)\)", PAGE)) <= headings
