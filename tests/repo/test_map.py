"""Who types `ls` finds what there is: the maps of the repository, of the pages and of the suites are complete."""

import re
import subprocess
from pathlib import Path

from pileup.suite import load

ROOT = Path(__file__).resolve().parents[2]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"


def links(page: Path) -> set[str]:
    return {link.rstrip("/") for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text())}


def tracked_folders() -> set[str]:
    """Top folders of what git tracks; in an unpacked archive, of what is there and no tool has made."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False)
    if done.returncode:
        made = {"target", "dist", "runs", ".venv", ".git", ".hypothesis", ".ruff_cache", ".mypy_cache", ".pytest_cache"}
        return {path.name for path in ROOT.iterdir() if path.is_dir()} - made
    return {name.partition("/")[0] for name in done.stdout.splitlines() if "/" in name}


def test_the_architecture_names_every_top_folder() -> None:
    section = (ROOT / "ARCHITECTURE.md").read_text().partition("## The repository")[2].partition("\n## ")[0]
    assert {
        name.partition("/")[0] for name in re.findall(r"^    (\S+/)\s", section, flags=re.MULTILINE)
    } == tracked_folders()


def test_the_index_of_the_pages_names_every_page() -> None:
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert pages <= links(DOCS / "README.md")
    assert {"reference/README.md", "decisions/README.md"} <= links(DOCS / "README.md")


def test_the_index_of_the_suites_names_every_suite() -> None:
    files = {path.name for path in EXAMPLES.iterdir() if path.is_file()} - {"README.md"}
    assert files <= links(EXAMPLES / "README.md")


def test_every_picture_is_shown_somewhere() -> None:
    text = "".join(page.read_text() for page in [ROOT / "README.md", *DOCS.rglob("*.md")])
    pictures = [path.relative_to(DOCS).as_posix() for path in (DOCS / "images").rglob("*.*")]
    assert [name for name in pictures if f"{name})" not in text] == []


def test_the_shipped_suites_that_the_readme_names_are_there() -> None:
    for page in (ROOT / "README.md", DOCS / "tutorial.md"):
        for name in re.findall(r"suite:([a-z-]+)", page.read_text()):
            assert (EXAMPLES / f"{name}.yaml").is_file()


def test_the_suite_of_the_readme_is_valid(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "copy.yaml").write_text(text)
    assert [case.name for case in load(tmp_path / "copy.yaml").cases] == ["fill", "copy"]
    scanned = text + "scan: {copy.buffer: [128 KiB, 1 MiB]}\nrepeat: 4\n"
    (tmp_path / "scan.yaml").write_text(scanned)
    assert len(load(tmp_path / "scan.yaml").cases) == 16


def test_folders_of_tests_of_modules_are_those_of_the_modules() -> None:
    sources = ROOT / "src" / "pileup"
    for tests in (ROOT / "tests" / "unit", ROOT / "tests" / "component"):
        folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
        assert [str(each) for each in sorted(folders) if not (sources / each).is_dir()] == []


def test_the_index_of_the_decisions_names_every_decision() -> None:
    assert {path.name for path in (DOCS / "decisions").glob("0*.md")} == links(DOCS / "decisions/README.md")
