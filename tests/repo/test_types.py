"""Dictionaries of anything stay few, and run.json is made and read in one place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src" / "pileup"
FILES = sorted(SOURCES.rglob("*.py"))
ANYTHING = 56
"""Lines with `dict[str, Any]` in all of pileup, by that name or another: what pydantic, Altair and JSON Schema take."""
OBJECTS = 147
"""The same of `dict[str, object]`: what is written as JSON and read by nobody here, words that are checked first."""
KEYS = frozenset({"cases", "criteria", "hosts", "places", "sessions", "targets", "versions", "void"})
"""Keys of run.json of which nothing else has three."""
CODECS = frozenset({"from_json", "text_of", "to_json"})


def untyped(text: str, value: str) -> int:
    """Return how many lines name a dictionary of such values; an alias counts as what it stands for."""
    form = rf"(?:dict|Mapping|MutableMapping)\[str, {value}\]"
    aliases = re.findall(rf"^(\w+)(?:: TypeAlias)? = {form}$", text, flags=re.MULTILINE)
    known = re.compile("|".join([form, *(rf"\b{each}\b" for each in aliases)]))
    return sum(known.search(line) is not None for line in text.splitlines())


def test_an_alias_counts_as_what_it_stands_for() -> None:
    assert untyped("Json = dict[str, Any]\na: Json\nb: Mapping[str, Any]\nc: list[Json]\n", "Any") == 4
    assert untyped("x: dict[str, int]\n", "Any") == 0


def test_dictionaries_of_anything_stay_few() -> None:
    texts = [path.read_text() for path in FILES]
    assert sum(untyped(text, "Any") for text in texts) <= ANYTHING
    assert sum(untyped(text, "object") for text in texts) <= OBJECTS


def test_run_json_is_made_and_read_by_the_record_alone() -> None:
    others = [path for path in FILES if not path.is_relative_to(SOURCES / "record")]
    wrong = [f"{path.relative_to(SOURCES)}: {what}" for path in others for what in makes(path)]
    assert wrong == []


def makes(path: Path) -> Iterator[str]:
    """Yield what in a file makes JSON of run.json, or reads it."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keys = KEYS & {each.value for each in node.keys if isinstance(each, ast.Constant)}
            if len(keys) > 2:
                yield f"line {node.lineno} has {', '.join(sorted(map(str, keys)))}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pileup.record"):
            taken = {each.name for each in node.names} & (CODECS | {"manifest", "typed_json"})
            if taken:
                yield f"line {node.lineno} imports {', '.join(sorted(taken))}"


def test_who_makes_it_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from pileup.record.manifest import text_of\n")
    (tmp_path / "b.py").write_text('x = {"cases": [], "hosts": [], "void": []}\n')
    assert [len(list(makes(tmp_path / name))) for name in ("a.py", "b.py")] == [1, 1]
