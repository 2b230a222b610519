"""The suite of the tutorial, put together from its page, runs as the page says."""

import re
from pathlib import Path

from tests.support import ROOT, pileup

PAGE = (ROOT / "docs/tutorial.md").read_text()


def block(after: str) -> str:
    """The first indented block behind a text, without its indentation of four."""
    lines = PAGE[PAGE.index(after) :].splitlines()[1:]
    begin = next(number for number, line in enumerate(lines) if line.startswith("    "))
    end = next(number for number in range(begin, len(lines)) if lines[number] and not lines[number].startswith("    "))
    return "\n".join(line[4:] for line in lines[begin:end]).rstrip() + "\n"


def suite() -> str:
    checks = block("Write `mine.yaml`").partition("pileup validate")[0].rstrip() + "\n"
    load = block("Add a test with a `load`").replace("for: 10 s", "for: 2 s")
    return checks + load + block("## 4. Say") + block("## 5. Watch")


def test_the_suite_of_the_tutorial_passes(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(suite())
    assert "valid: 3 tests" in pileup("validate", "mine.yaml", cwd=tmp_path).stdout
    done = pileup("run", "mine.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_open_load_fits_too(tmp_path: Path) -> None:
    open_load = block("An *open* load asks").strip().replace("for: 10 s", "for: 2 s")
    (tmp_path / "mine.yaml").write_text(re.sub(r"load: \{clients.*", open_load, suite()))
    done = pileup("run", "mine.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_misspelt_word_is_told_as_the_tutorial_says(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(suite().replace("options: {entries", "opions: {entries"))
    done = pileup("validate", "mine.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert "opions" in done.stderr
    assert "options" in done.stderr
