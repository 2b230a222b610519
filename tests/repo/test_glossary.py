"""One word, one meaning: what the glossary of ARCHITECTURE.md names is there, and what it puts away is in no name."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIELD = (
    "offered load | throughput | goodput | bandwidth | response time | service time | latency | queueing delay | "
    "scheduling delay | coordinated omission | missed | ambiguous | percentile | confidence interval | outlier | "
    "effect size | warm-up | ramp-up | steady state | open model | closed model | think time | client | "
    "concurrency | in flight | criterion | saturation | knee | capacity | bottleneck | backpressure | "
    "load shedding | retry | timeout | SLO | error budget | availability | time to recovery | baseline | "
    "regression"
)
"""Terms that docs/glossary.md must have."""
SOURCES = ROOT / "src" / "pileup"
SECTION = (ROOT / "ARCHITECTURE.md").read_text().partition("\n## Words\n")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in SECTION.splitlines() if line.startswith("| ")
][1:]
FAULTS = re.compile(r"fault|model/(event|journal|manifest|practice|results|suite)\.py|stats/tables\.py|_kinds\.py")
"""Files that may have "fault" in their own name or in those of their classes and functions."""
ABOUT_FAULTS = {"_check_fault", "_check_fault_of", "_faults", "_faults_of", "_of_fault", "_fault_name", "after_fault"}
"""Functions elsewhere that are about the faults of a suite."""


def parts(name: str) -> set[str]:
    """The words that a name is made of."""
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_"))


def names(path: Path) -> Iterator[str]:
    """Those of a module, its classes and its functions."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name


def carriers(words: set[str]) -> set[str]:
    """Names with one of these words in them, each with its file."""
    return {
        f"{path.relative_to(SOURCES)}: {name}"
        for path in SOURCES.rglob("*.py")
        for name in names(path)
        if parts(name) & words
    }


def test_a_name_is_taken_to_pieces() -> None:
    assert parts("_FeltFault2Name") == {"felt", "fault2", "name"}
    assert parts("own_folders") == {"own", "folders"}


def test_the_glossary_is_there() -> None:
    assert len(ROWS) > 25
    assert all(len(row) == 4 and row[0] and row[1] for row in ROWS)


@pytest.mark.parametrize("name", re.findall(r"`([a-z_.]+\.[A-Za-z_]+)`", "".join(row[2] for row in ROWS)))
def test_what_it_names_is_there(name: str) -> None:
    module, _, attribute = f"pileup.{name}".rpartition(".")
    assert getattr(importlib.import_module(module), attribute)


def test_what_it_puts_away_is_in_no_name() -> None:
    away = {word.strip() for row in ROWS for word in row[3].split(",") if word.strip()}
    assert {"breakage", "rails", "mender"} <= away
    assert carriers(away) == set()


def test_a_fault_is_what_a_suite_breaks() -> None:
    others = {each for each in carriers({"fault", "faults"}) if not FAULTS.search(each.partition(":")[0])}
    assert {each for each in others if each.partition(": ")[2] not in ABOUT_FAULTS} == set()


def test_the_glossary_for_users_has_every_term_of_the_field_in_order() -> None:
    terms = re.findall(r"^### (.+)$", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    assert terms == sorted(terms, key=str.lower)
    assert set(FIELD.split(" | ")) <= set(terms)


def test_pages_lead_to_the_glossary_where_they_explain() -> None:
    for page, term in (("tutorial", "open-model"), ("verdicts", "confidence-interval"), ("self-watch", "bottleneck")):
        assert f"(glossary.md#{term})" in (ROOT / f"docs/{page}.md").read_text()
