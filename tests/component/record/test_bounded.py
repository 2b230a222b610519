"""Large tables: what memory does not hold goes to a place of its own, which is gone at the end."""

import time
from pathlib import Path

import numpy as np
import pytest

from pileup.record import RunFolder, TableWriter, convert, operations
from pileup.record.operations import ROW
from pileup.record.words import Words
from tests.manifests import run_of

ROWS = 400_000


@pytest.fixture
def folder(tmp_path):
    made = RunFolder.create(tmp_path, "large", 0)
    made.save(run_of({"cases": [{"id": 1, "name": "copy"}]}))
    writer = TableWriter(made.operations_path(0), "operations", ROW)
    for begin in range(0, ROWS, 100_000):
        rows = np.zeros(100_000, ROW)
        rows["id"] = np.arange(begin, begin + 100_000) + 1
        rows["case"], rows["operation"], rows["key"] = 1, 1, 2 + np.arange(100_000) % 1000
        texts = [b"copy", *(b"/data/a/rather/long/name/of/a/file/%d" % number for number in range(1000))]
        writer.append(rows, texts, ("operation", "key"))
    writer.close()
    return made


def test_each_connection_spills_into_its_own_folder():
    with operations.connect() as one, operations.connect() as two:
        paths = [
            connection.execute("SELECT current_setting('temp_directory')").fetchone()[0] for connection in (one, two)
        ]
    assert paths[0] != paths[1]
    assert not Path(paths[0]).is_relative_to(Path.cwd())


@pytest.mark.long
def test_raw_rows_are_loaded_with_less_memory_than_they_take(folder, tmp_path, monkeypatch):
    spill = tmp_path / "spill"
    monkeypatch.setattr(operations, "MEMORY", "64MB")
    monkeypatch.setattr(operations, "CHUNK", 20_000)
    monkeypatch.setattr(operations, "_spill", lambda path: spill)
    with folder.operations().connect() as connection:
        assert connection.execute("SELECT count(*) > 0 FROM duckdb_temporary_files()").fetchone() == (True,)
        assert connection.execute("SELECT count(*), count(DISTINCT key) FROM operations").fetchone() == (ROWS, 1000)
    assert not spill.exists()


@pytest.mark.long
def test_what_a_crash_left_of_a_conversion_goes(folder, monkeypatch):
    monkeypatch.setattr(convert, "IN_MEMORY", 0)
    base = folder.operations_path(0).parent
    (base / "operations.pieces").mkdir()
    (base / "operations.pieces" / "0.parquet").write_bytes(b"half a file")
    folder.convert()
    assert [path.name for path in base.iterdir()] == ["operations.parquet"]
    assert len(folder.operations().arrays("id")["id"]) == ROWS


@pytest.mark.long
def test_rows_converted_in_pieces_are_those_converted_in_memory(folder, monkeypatch):
    with folder.operations().connect() as connection:
        raw = connection.execute("SELECT * FROM operations ORDER BY id").fetchnumpy()
    monkeypatch.setattr(convert, "IN_MEMORY", 0)
    folder.convert()
    with folder.operations().connect() as connection:
        made = connection.execute("SELECT * FROM operations").fetchnumpy()
    assert list(made) == list(raw)
    for name in raw:
        assert (made[name] == raw[name]).all(), name


def test_chunks_fit_into_one_file_whether_a_word_is_that_of_all_their_rows_or_not(tmp_path, monkeypatch):
    made = RunFolder.create(tmp_path, "mixed", 0)
    made.save(run_of({"cases": [{"id": 1, "name": "copy"}, {"id": 2, "name": "move"}]}))
    writer = TableWriter(made.operations_path(0), "operations", ROW)
    for outcomes, cases, keys in (([0, 0], [1, 1], [2, 2]), ([0, 1], [1, 2], [2, 3]), ([1, 1], [2, 2], [3, 3])):
        rows = np.zeros(2, ROW)
        rows["outcome"], rows["case"], rows["key"], rows["operation"] = outcomes, cases, keys, 1
        writer.append(rows, [b"copy", b"it's", b"nul\x00"], ("operation", "key"))
    writer.close()
    monkeypatch.setattr(convert, "IN_MEMORY", 0)
    monkeypatch.setattr(operations.chunks, "__defaults__", (2,))
    monkeypatch.setattr(convert, "_write", pytest.fail)  # what is done when they do not fit
    made.convert()
    found = made.operations().arrays("outcome", "case", "key", "operation", "error")
    assert found["outcome"].tolist() == ["passed"] * 3 + ["failed"] * 3
    assert found["case"].tolist() == ["copy"] * 3 + ["move"] * 3
    assert found["key"].tolist() == ["it's"] * 3 + ["nul\0"] * 3
    assert set(found["operation"]) == {"copy"}
    assert set(found["error"]) == {""}


def test_a_source_that_was_stopped_gives_no_more(folder, monkeypatch):
    monkeypatch.setattr(operations.chunks, "__defaults__", (50_000,))
    source = operations.Source([folder.operations_path(0)])
    number, columns, texts = source.take()
    assert (number, len(columns["id"]), texts[1]) == (1, 100_000, "copy")
    source.stop()
    assert source.take() is None


def test_when_one_thread_of_a_conversion_fails_the_other_does_not_go_on(folder, monkeypatch):
    monkeypatch.setattr(operations.chunks, "__defaults__", (50_000,))
    monkeypatch.setattr(convert, "IN_MEMORY", 0)
    query, asked = Words.query, []

    def failing(words, rows, texts):
        asked.append(1)
        if len(asked) == 1:
            raise OSError("no room")
        time.sleep(0.5)
        return query(words, rows, texts)

    monkeypatch.setattr(Words, "query", failing)
    with pytest.raises(OSError, match="no room"):
        folder.convert()
    assert len(asked) <= operations.HANDS, "there are four chunks"
    assert folder.operations_path(0).exists()


def test_a_large_table_of_texts_alone_becomes_an_empty_file(tmp_path, monkeypatch):
    monkeypatch.setattr(convert, "IN_MEMORY", 0)
    made = RunFolder.create(tmp_path, "texts", 0)
    made.save(run_of({"cases": []}))
    writer = TableWriter(made.operations_path(0), "operations", ROW)
    writer.append(np.zeros(0, ROW), [b"never used"], ())
    writer.close()
    made.convert()
    assert len(made.operations().arrays("id")["id"]) == 0
