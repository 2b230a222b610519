"""The linter of the house style finds a word wherever people read it, at its line, and nowhere in code."""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support import tool

ROOT = Path(__file__).resolve().parents[2]
PYTHON = '''"""Of a module.

It shall be found.
"""

SHALL = {"shall": 1}  # drawn anew


def mend(shall: str) -> str:
    raise ValueError(
        f"{shall} is read, and "
        "passed over, see `put right`"
    )
'''
RUST = """//! It shall be found.
fn mend(shall: &str) -> String {
    // more than it
    // bears, anew
    format!("it is put right {shall}")
}
"""
PAGE = """# It shall

Text with `anew` in code,
that goes on and is passed
over. A quantile.

    mend it

```
put right what is there
```
"""
SUITE = """# It shall
about: >
  What is
  put right.
criteria:
  - {id: C1, says: "150 reads/s or more are borne", check: rate(a) >= 150 /s}
  - {id: C2, says: Nothing is passed over, check: count(a) == $shall}
"""
SCRIPT = """// It is drawn anew
const shall = `${shall} s are borne`;  // and mended
draw("what is", 'passed over');
"""
NOTEBOOK = """{
 "cells": [
  {
   "cell_type": "markdown",
   "source": [
    "# It shall\\n",
    "\\n",
    "Text that is passed\\n",
    "over.\\n"
   ]
  },
  {
   "cell_type": "code",
   "source": [
    "suite = \\"- {says: '150 reads/s are borne'}\\""
   ]
  }
 ]
}
"""


@pytest.fixture(scope="module")
def lint() -> ModuleType:
    return tool("prose/lint")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", PYTHON, [(3, "shall"), (6, "anew"), (12, "passed over")]),
        ("a.rs", RUST, [(1, "shall"), (4, "anew"), (4, "bears"), (5, "put right")]),
        ("a.md", PAGE, [(1, "shall"), (4, "passed over"), (5, "quantile")]),
        ("a.py.txt", PYTHON, [(3, "shall"), (6, "anew"), (12, "passed over")]),
        ("a.yaml", SUITE, [(1, "shall"), (4, "put right"), (6, "borne"), (7, "passed over")]),
        ("a.yaml.txt", SUITE, [(1, "shall"), (4, "put right"), (6, "borne"), (7, "passed over")]),
        ("a.js", SCRIPT, [(1, "anew"), (2, "borne"), (2, "mended"), (3, "passed over")]),
        ("a.ipynb", NOTEBOOK, [(6, "shall"), (8, "passed over"), (15, "borne")]),
    ],
)
def test_a_word_is_found_where_people_read_it(
    lint: ModuleType, tmp_path: Path, name: str, text: str, expected: list[tuple[int, str]]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert [(each.line, each.found) for each in lint.findings([path])] == expected


def test_every_word_of_the_style_is_found_with_its_better_one(lint: ModuleType, tmp_path: Path) -> None:
    words = lint.style().words | lint.style().words_of_pages
    assert len(words) > 50
    path = tmp_path / "a.md"
    path.write_text("".join(f"It is that {word} here.\n\n" for word in words))
    told = {each.message for each in lint.findings([path])}
    assert {f"write '{better}', not '{word}'" for word, better in words.items()} <= told


def test_what_is_better_is_not_found_itself(lint: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("\n\n".join(f"It is that {better} here." for better in lint.style().words.values()))
    assert lint.findings([path]) == []


def test_it_fails_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("# A page\n\nIt is drawn anew.\n")
    command = [sys.executable, str(ROOT / "tools/prose/lint.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert f"{path}:3: write 'again', not 'anew'\n" in done.stdout


def test_long_sentences_are_listed_and_refuse_nothing(lint: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"A short one. {'word ' * (lint.style().sentence + 1)}.")
    assert lint.findings([path]) == []
    assert [each.line for each in lint.long_sentences([path])] == [1]


def test_what_a_file_may_say_is_still_in_it(lint: ModuleType) -> None:
    for name, words in lint.style().allowed.items():
        text = (ROOT / name).read_text()
        assert all(word in text for word in words), name
