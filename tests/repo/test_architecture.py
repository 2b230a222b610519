"""ARCHITECTURE.md names every folder and crate that there is, and none that is not."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.findall(r"^\| `([a-z_-]+)/?` \|", (ROOT / "ARCHITECTURE.md").read_text(), flags=re.MULTILINE)


def test_it_names_the_folders_and_crates_of_the_tree() -> None:
    packages = [path.parent.name for path in (ROOT / "src/pileup").glob("*/__init__.py")]
    crates = [path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")]
    assert sorted(NAMED) == sorted(packages + crates)


def test_links_in_the_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
