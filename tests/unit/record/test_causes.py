"""Why something did not pass: a column of the record; of older records the record reads it out of the sentence."""

from pathlib import Path

import numpy as np
import pytest

from pileup.model.cause import Cause
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import OLDER, ROW
from tests.manifests import run_of

FAILED = 1
SENTENCES = [
    ("too many open files", Cause.OPEN_FILES),
    ("open: Too many open files (os error 24)", Cause.OPEN_FILES),
    ("no local port left for a new connection", Cause.LOCAL_PORTS),
    ("Cancelled by root", Cause.CANCELLED),
    ("status 500: too many open files", Cause.NONE),
    ("exit 1 (not cancelled)", Cause.NONE),
]


def written(base: Path, columns: "np.dtype[np.void]", causes: list[Cause] | None = None) -> RunFolder:
    """A run with a failure for each sentence."""
    folder = RunFolder.create(base, "causes", 0)
    folder.save(run_of({"cases": [{"id": 1, "name": "copy", "test": "copy"}]}))
    rows = np.zeros(len(SENTENCES), columns)
    rows["id"], rows["case"], rows["outcome"] = 1 + np.arange(len(rows)), 1, FAILED
    rows["error"] = 1 + np.arange(len(rows))
    if causes is not None:
        rows["cause"] = causes
    writer = TableWriter(folder.operations_path(0), "operations", columns)
    writer.append(rows, [text.encode() for text, _ in SENTENCES], ("key", "error", "operation"))
    writer.close()
    return folder


def causes_of(folder: RunFolder) -> list[str]:
    with folder.operations().connect() as connection:
        return [row[0] for row in connection.execute("SELECT cause FROM caused ORDER BY id").fetchall()]


@pytest.mark.parametrize("converted", [False, True])
def test_a_cause_is_what_was_recorded_whatever_the_sentence(tmp_path: Path, converted: bool) -> None:
    turned = [cause for _, cause in reversed(SENTENCES)]
    folder = written(tmp_path, ROW, turned)
    if converted:
        folder.convert()
    assert causes_of(folder) == [cause.word for cause in turned]


@pytest.mark.parametrize("converted", [False, True])
def test_older_tables_have_it_in_the_sentence(tmp_path: Path, converted: bool) -> None:
    folder = written(tmp_path, OLDER)
    if converted:
        folder.convert()
    assert causes_of(folder) == [cause.word for _, cause in SENTENCES]


def test_so_have_older_parquet_files(tmp_path: Path) -> None:
    folder = written(tmp_path, ROW, [Cause.NONE] * len(SENTENCES))
    folder.convert()
    path = folder.path / "operations" / "operations.parquet"
    with folder.operations().connect() as connection:
        connection.execute(f"COPY (SELECT * FROM operations) TO '{path}.old' (FORMAT parquet)")
    Path(f"{path}.old").replace(path)
    assert causes_of(folder) == [cause.word for _, cause in SENTENCES]
