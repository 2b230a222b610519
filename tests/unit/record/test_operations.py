"""Operations: raw tables and Parquet give the same answers."""

import struct

import numpy as np
import pytest

from pileup.model.errors import RecordError
from pileup.record import RunFolder, TableReader, TableWriter, operations
from pileup.record.operations import ROW
from tests.manifests import run_of

INFO = {
    "format": 1,
    "cases": [
        {"id": 1, "name": "copy@1", "test": "copy", "target": "se"},
        {"id": 2, "name": "n", "test": "n", "target": ""},
    ],
    "targets": [{"name": "se"}],
}


def rows(number, place=0, first=0):
    made = np.zeros(number, ROW)
    made["id"] = (place << 48) + np.arange(first, first + number, dtype=np.uint64) + 1
    made["intended"] = made["start"] = 1_795_000_000_000_000_000 + np.arange(first, first + number)
    made["end"] = made["start"] + 500
    made["key"], made["operation"], made["bytes"] = 1 + np.arange(number) % 2, 3, 2**40
    made["case"], made["phase"], made["place"] = 1 + np.arange(number) % 3, 3, place
    made["outcome"] = np.where(np.arange(number) % 5 == 0, 1, 0)
    made["error"] = np.where(made["outcome"] == 1, 4, 0)
    return made


def fill(folder, place=0, number=30):
    writer = TableWriter(folder.operations_path(place), "operations", ROW, place)
    for first in range(0, number, 10):
        texts = [b"/a", "/b/\u00e9".encode(), b"read", b"it's broken"]
        writer.append(rows(10, place, first), texts, ("key", "error", "operation"))
    writer.close()


@pytest.fixture
def folder(tmp_path):
    made = RunFolder.create(tmp_path, "x", 0)
    made.save(run_of(INFO))
    fill(made)
    fill(made, 1)
    return made


def everything(folder):
    with folder.operations().connect() as connection:
        columns = [row[0] for row in connection.execute("DESCRIBE operations").fetchall()]
        return columns, connection.execute("SELECT * FROM operations ORDER BY id").fetchall()


def test_the_view_has_words_and_names(folder):
    columns, found = everything(folder)
    assert tuple(columns) == operations.COLUMNS
    assert len(found) == 60
    first, second, third = (dict(zip(columns, row, strict=True)) for row in found[:3])
    assert (first["key"], first["error"], first["outcome"]) == ("/a", "it's broken", "failed")
    assert (second["key"], second["error"], second["outcome"]) == ("/b/é", "", "passed")
    assert (first["case"], first["case_id"], first["test"], first["target"]) == ("copy@1", 1, "copy", "se")
    assert (second["test"], second["target"]) == ("n", "")
    assert (third["case"], third["case_id"], third["test"]) == ("", 3, "")
    assert (first["operation"], first["side"], first["phase"], first["bytes"]) == ("read", "client", "measure", 2**40)
    assert found[-1][0] == (1 << 48) + 30


def test_converting_changes_no_answer(folder):
    before = everything(folder)
    folder.convert()
    assert sorted(path.name for path in (folder.path / "operations").iterdir()) == ["operations.parquet"]
    assert everything(RunFolder.open(folder.path)) == before
    folder.convert()
    assert everything(folder) == before


def test_large_tables_go_by_way_of_a_database_file_in_chunks(folder, monkeypatch):
    before = everything(folder)
    monkeypatch.setattr("pileup.record.convert.IN_MEMORY", 0)
    monkeypatch.setattr(operations.chunks, "__defaults__", (10,))
    folder.convert()
    assert sorted(path.name for path in (folder.path / "operations").iterdir()) == ["operations.parquet"]
    assert everything(folder) == before


def test_a_conversion_that_fails_leaves_the_raw_tables(folder, monkeypatch):
    before = everything(folder)
    monkeypatch.setattr("pileup.record.convert.OPTIONS", "FORMAT nonsense")
    with pytest.raises(Exception, match="nonsense"):
        folder.convert()
    assert sorted(path.suffix for path in (folder.path / "operations").iterdir()) == [".table", ".table"]
    assert everything(folder) == before


def test_each_session_of_a_run_has_a_parquet_file_and_all_together_give_the_same_answers(folder):
    fill(folder, 2)
    fill(folder, 3)
    before = everything(folder)
    later = [folder.path / "operations" / name for name in ("2.table", "3.table")]
    kept = {path: path.read_bytes() for path in later}
    for path in later:
        path.unlink()
    folder.convert()
    for path, data in kept.items():
        path.write_bytes(data)
    assert everything(folder) == before
    folder.convert()
    names = sorted(path.name for path in (folder.path / "operations").iterdir())
    assert names == ["operations-2.parquet", "operations.parquet"]
    assert everything(folder) == before


def test_tables_that_a_conversion_left_when_it_was_cut_short_count_once(folder, monkeypatch):
    before = everything(folder)
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", lambda path, missing_ok=False: None)
        folder.convert()
    assert sorted(path.suffix for path in (folder.path / "operations").iterdir()) == [".parquet", ".table", ".table"]
    assert everything(folder) == before
    (folder.path / "operations" / "1.table").unlink()
    assert everything(folder) == before
    folder.convert()
    assert everything(folder) == before
    assert [path.name for path in (folder.path / "operations").iterdir()] == ["operations.parquet"]


@pytest.mark.parametrize("converted", [False, True])
def test_rows_of_an_attempt_that_was_broken_off_have_a_phase_of_their_own(folder, converted):
    folder.save(run_of({**INFO, "void": [[1, 0]]}))
    if converted:
        folder.convert()
    found = folder.operations().arrays("case_id", "place", "phase")
    void = (found["case_id"] == 1) & (found["place"] == 0)
    assert set(found["phase"][void]) == {"broken-off"}
    assert set(found["phase"][~void]) == {"measure"}


def test_parquet_is_of_version_two_and_zstd(folder):
    folder.convert()
    path = folder.path / "operations" / "operations.parquet"
    with operations.connect() as connection:
        query = f"SELECT DISTINCT compression FROM parquet_metadata('{path}')"
        assert connection.execute(query).fetchall() == [("ZSTD",)]


@pytest.mark.parametrize("keep", [0, 100])
def test_a_damaged_parquet_is_told(folder, keep):
    folder.convert()
    path = folder.path / "operations" / "operations.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(RecordError, match="parquet cannot be read"):
        folder.operations().connect()


def test_arrays(folder):
    found = folder.operations().arrays("id", "error", where="outcome = 'failed'")
    assert list(found) == ["id", "error"]
    assert found["id"].dtype == np.uint64
    assert set(found["error"]) == {"it's broken"}
    assert len(found["id"]) == 12


def test_an_empty_folder_has_no_operations(tmp_path):
    made = RunFolder.create(tmp_path, "x", 0)
    made.save(run_of({"cases": []}))
    assert everything(made)[1] == []
    made.convert()
    assert everything(made)[1] == []


def test_texts_that_are_used_once_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(operations, "KEPT", 4)
    writer = TableWriter(tmp_path / "0.table", "operations", ROW)
    for first in range(0, 400, 10):
        made = rows(10, 0, first)
        made["key"], made["operation"], made["error"] = 1 + np.arange(10), 11, 0
        texts = [f"key{first + number}".encode() for number in range(10)]
        writer.append(made, [*texts, b"read"], ("key", "operation"))
    writer.close()
    seen, largest = [], 0
    for part, texts in operations.chunks(TableReader(tmp_path / "0.table"), 10):
        seen += [texts[key] for key in part["key"].tolist()]
        assert {texts[number] for number in part["operation"].tolist()} == {"read"}
        largest = max(largest, len(texts))
    assert seen == [f"key{number}" for number in range(400)]
    assert largest < 100


def test_names_stay_known_though_they_are_not_used_for_long(tmp_path, monkeypatch):
    """A name has its number when its load begins, or once for all; between its rows others come by the million."""
    monkeypatch.setattr(operations, "KEPT", 4)
    writer = TableWriter(tmp_path / "0.table", "operations", ROW)
    begin = [b"a", b"b", b"c", b"d", b"poll", b"release"]  # numbers 5 and 6
    for first in range(0, 400, 10):
        made = rows(10, 0, first)
        made["key"], made["error"] = 1 + np.arange(10) + (len(begin) if first == 0 else 0), 0
        made["operation"] = 6 if first in (100, 390) else 5
        texts = [f"key{first + number}".encode() for number in range(10)]
        writer.append(made, [*begin, *texts] if first == 0 else texts, ("key",))
    writer.close()
    found = [
        (texts[row["operation"]], texts[row["key"]])
        for part, texts in operations.chunks(TableReader(tmp_path / "0.table"), 10)
        for row in part
    ]
    assert [key for _, key in found] == [f"key{number}" for number in range(400)]
    assert [name for name, _ in found] == ["release" if at // 10 in (10, 39) else "poll" for at in range(400)]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"PILEUP2\n" + b"\0" * 20, "it begins with b'PILEUP2"),
        (b"PILEUP1\n" + struct.pack("<I", 2) + b"{}", "its header is wrong"),
        (b"PILEUP1\n" + struct.pack("<I", 2**31), "its header is wrong"),
        (b"PILEUP1\n" + struct.pack("<I", 3) + b"[1]", "its header is wrong"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, data, says):
    path = tmp_path / "x.table"
    path.write_bytes(data)
    with pytest.raises(RecordError) as caught:
        TableReader(path)
    assert says in str(caught.value)


def test_a_newer_format_is_refused(tmp_path):
    header = b'{"format": 2, "table": "x", "row_size": 1, "columns": [["a", "u1"]]}'
    path = tmp_path / "x.table"
    path.write_bytes(b"PILEUP1\n" + struct.pack("<I", len(header)) + header)
    with pytest.raises(RecordError, match="format is 2; expected format 1"):
        TableReader(path)


def test_a_broken_checksum_ends_the_reading(tmp_path):
    path = tmp_path / "x.table"
    columns = np.dtype([("a", "<u4")])
    writer = TableWriter(path, "x", columns)
    for value in (1, 2, 3):
        writer.append(np.array([(value,)], columns), [], ())
    writer.close()
    data = bytearray(path.read_bytes())
    ends = [block.end for block in TableReader(path).blocks()]
    data[ends[1] - 1] ^= 1
    path.write_bytes(data)
    assert [block.end for block in TableReader(path).blocks()] == ends[:1]
