"""Parquet files joined: the same rows in the same order, for every reader."""

import hashlib

import duckdb
import pyarrow.parquet
import pytest

from pileup.record import row_groups

PARQUET = "FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd"


@pytest.fixture
def connection():
    with duckdb.connect() as made:
        yield made


def part(connection, path, begin, count, extra=""):
    query = f"""SELECT range AS id, -range AS less, 'name ' || range % 7 AS name, range % 3 = 0 AS third,
        range / 7.0 AS part,
        CASE WHEN range % 5 = 0 THEN NULL ELSE 'x' END AS some{extra} FROM range({begin}, {begin + count})"""
    connection.execute(f"COPY ({query}) TO '{path}' ({PARQUET}, ROW_GROUP_SIZE 2048, KV_METADATA {{made_by: 'us'}})")
    return path


def joined(paths, into):
    with into.open("wb") as file:
        row_groups.join(paths, file)
    return into


def test_the_rows_are_those_of_the_files_in_their_order(tmp_path, connection):
    counts = [5000, 1, 2048, 30_000, 4097]
    begins = [sum(counts[:number]) for number in range(len(counts))]
    paths = [
        part(connection, tmp_path / f"{begin}.parquet", begin, count)
        for begin, count in zip(begins, counts, strict=True)
    ]
    whole = joined(paths, tmp_path / "whole")
    alone = part(connection, tmp_path / "alone", 0, sum(counts))
    apart = f"(FROM read_parquet('{whole}') EXCEPT ALL FROM read_parquet('{alone}'))"
    assert connection.execute(f"SELECT count(*) FROM {apart}").fetchone() == (0,)
    assert connection.execute(f"SELECT count(*) FROM read_parquet('{whole}')").fetchone() == (sum(counts),)
    assert connection.execute(f"SELECT name FROM read_parquet('{whole}') WHERE id = 36_000").fetchall() == [("name 6",)]
    other = pyarrow.parquet.ParquetFile(whole)
    assert other.metadata.num_rows == sum(counts)
    assert other.read().equals(pyarrow.parquet.read_table(alone))
    assert other.metadata.metadata[b"made_by"] == b"us"
    assert [other.metadata.row_group(number).num_rows for number in range(4)] == [2048, 2048, 904, 1]


def test_one_file_alone_stays_as_it_was_but_for_its_footer(tmp_path, connection):
    path = part(connection, tmp_path / "a.parquet", 0, 5000)
    with path.open("rb") as file:
        footer, end = row_groups.read_footer(file)
    made = bytearray()
    row_groups.put_struct(made, footer)
    assert bytes(made) == path.read_bytes()[end:-8], "what is read is written again byte for byte"
    whole = joined([path], tmp_path / "whole")
    assert hashlib.sha256(whole.read_bytes()[:end]).digest() == hashlib.sha256(path.read_bytes()[:end]).digest()


def test_files_with_other_columns_do_not_fit(tmp_path, connection):
    paths = [
        part(connection, tmp_path / "a.parquet", 0, 10),
        part(connection, tmp_path / "b.parquet", 10, 10, ", 1 AS more"),
    ]
    with pytest.raises(row_groups.NotAlike, match=r"b\.parquet"):
        joined(paths, tmp_path / "whole")


@pytest.mark.parametrize("cut", [0, 3, 11, 100])
def test_what_is_no_parquet_file_is_refused(tmp_path, connection, cut):
    path = part(connection, tmp_path / "a.parquet", 0, 10)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError, match="Parquet"):
        joined([path], tmp_path / "whole")


def test_a_footer_that_ends_too_early_is_refused(tmp_path, connection):
    path = part(connection, tmp_path / "a.parquet", 0, 10)
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little") // 2
    path.write_bytes(data[: len(data) - 8 - length] + length.to_bytes(4, "little") + b"PAR1")
    with pytest.raises(ValueError, match=r"Parquet|type"):
        joined([path], tmp_path / "whole")
