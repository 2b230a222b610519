"""Files that the pages for authors of plug-ins show: written out, they are used by tests."""

import re
from pathlib import Path

from tests.support import ROOT

PAGES = tuple(sorted((ROOT / "docs").glob("plugins*.md")))
FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown_files() -> dict[str, str]:
    """Return name -> content of every file that the pages show."""
    return {name: text for page in PAGES for name, text in FILE.findall(page.read_text())}


def write_files(folder: Path) -> list[str]:
    """Write them into a folder; return their names."""
    files = shown_files()
    for name, text in files.items():
        (folder / name).write_text(text)
    return [*files]
