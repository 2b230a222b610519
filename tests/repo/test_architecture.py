"""ARCHITECTURE.md names every folder and crate that there is, and none that is not."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
NAMED = re.findall(r"^\| `([a-z0-9_-]+)/?` \|", PAGE, flags=re.MULTILINE)


def test_it_names_the_folders_and_crates_of_the_tree() -> None:
    packages = [path.parent.name for path in (ROOT / "src/pileup").glob("*/__init__.py")]
    crates = [path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")]
    assert sorted(NAMED) == sorted(packages + crates)


def folders_inside() -> set[str]:
    """The folders that the second table names, each below its layer."""
    found = set()
    for row in re.findall(r"^\| (`[a-z_]+/[a-z0-9_/]+/`.*?) \|", PAGE, flags=re.MULTILINE):
        layer, _, _ = row.strip("`").partition("/")
        for name in re.findall(r"`([a-z0-9_/]+)/`", row):
            found.add(name if name.startswith(f"{layer}/") else f"{layer}/{name}")
    return found


def test_it_names_the_folders_inside_the_layers() -> None:
    packages = [path.parent for path in (ROOT / "src/pileup").glob("*/*/__init__.py")]
    assert folders_inside() == {str(path.relative_to(ROOT / "src/pileup")) for path in packages}


def test_links_in_the_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
