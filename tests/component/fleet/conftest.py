"""A run folder for loads that tests press themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.manifests import run_of


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    """A run folder of one case."""
    folder = RunFolder.create(tmp_path, "t", 0)
    folder.save(run_of({"title": "t", "cases": [{"id": 1, "name": "case", "test": "case"}]}))
    yield folder
    folder.close()
