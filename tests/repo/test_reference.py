"""docs/reference/ says what the code says: `make docs` writes it."""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/reference"


def test_it_is_what_make_docs_would_write() -> None:
    wanted = runpy.run_path(str(ROOT / "tools/reference.py"))["files"]()
    there = {str(path.relative_to(FOLDER)): path.read_text() for path in FOLDER.rglob("*") if path.is_file()}
    assert sorted(there) == sorted(wanted), "run `make docs`"
    assert [name for name in wanted if there[name] != wanted[name]] == [], "run `make docs`"


def test_it_has_a_page_for_every_plug_in_that_comes_with_pileup() -> None:
    import tomllib

    registered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    for group, plugins in registered.items():
        folder = FOLDER / group.removeprefix("pileup.")
        assert sorted(path.stem for path in folder.glob("*.md")) == sorted(plugins)
