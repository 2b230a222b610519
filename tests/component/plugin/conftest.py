"""A folder with every file that the pages for authors of plug-ins show."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages import write_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with every file of the pages, from which Python imports."""
    names = write_files(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in names:
        sys.modules.pop(Path(name).stem, None)
