"""Tables as ROOT files, read back by uproot."""

import sys
from importlib.util import find_spec

import duckdb
import pytest
from click.testing import CliRunner

from pileup.cli.app import app
from pileup.cli.export.duckdb_table import DuckTable
from pileup.plugin import registry
from tests.support import ROOT, give_up

if find_spec("uproot") is None:
    give_up("uproot is not installed: pip install 'pileup[analysis]'")
import uproot

from pileup.builtin.exporters import root_format

GOLDEN = ROOT / "tests" / "golden" / "0.1"
LOWEST = -(2**63)


def written(tmp_path, query, name="things"):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE {name} AS {query}")
        root_format.Root().write(DuckTable(connection, name), tmp_path / "t.root")
    return uproot.open(tmp_path / "t.root")


def read(file, name):
    return file[name].arrays().to_list()


@pytest.mark.parametrize("name", ["things", "things_rntuple"])
def test_every_type_comes_back_in_a_tree_and_in_an_ntuple(tmp_path, name, monkeypatch):
    monkeypatch.setattr(root_format, "AT_ONCE", 2)
    row = "1::BIGINT AS a, 2::USMALLINT AS b, 1.5::DOUBLE AS c, true AS d, 'ü' || repeat('x', 400) AS e"
    with written(
        tmp_path, f"SELECT {row} UNION ALL SELECT NULL, 3::USMALLINT, NULL, false, NULL UNION ALL SELECT {row}"
    ) as file:
        rows = sorted(read(file, name), key=lambda each: each["a"])
        types = [str(file[name].arrays()[column].type.content) for column in "abcd"]
    assert types == ["int64", "uint16", "float64", "bool"]
    assert rows[1] == rows[2] == {"a": 1, "b": 2, "c": 1.5, "d": True, "e": "ü" + "x" * 400}
    assert (rows[0]["a"], rows[0]["b"], rows[0]["d"], rows[0]["e"]) == (LOWEST, 3, False, "")
    assert rows[0]["c"] != rows[0]["c"], "a missing figure is NaN"


def test_columns_have_names_that_c_can_have_each_another_one(tmp_path):
    with written(tmp_path, 'SELECT 1 AS "copy.buffer", 2 AS copy_buffer, 3 AS "4", 4 AS "größe"') as file:
        assert read(file, "things") == [{"copy_buffer": 1, "copy_buffer_2": 2, "_4": 3, "gr__e": 4}]


def test_a_table_without_rows_has_its_columns(tmp_path):
    with written(tmp_path, "SELECT 1 AS a, 'x' AS b WHERE false") as file:
        assert file.keys(cycle=False) == ["things"]
        assert (file["things"].num_entries, file["things"].keys()) == (0, ["a", "b"])


@pytest.mark.long
def test_a_record_comes_back_row_for_row(tmp_path):
    for form in ("root", "csv"):
        done = CliRunner().invoke(app, ["export", str(GOLDEN / "ended"), "--to", form, "--out", str(tmp_path)])
        assert done.exit_code == 0, done.output
    compared = 0
    for path in tmp_path.glob("*.csv"):
        rows = duckdb.read_csv(str(path)).fetchall()
        with uproot.open(path.with_suffix(".root")) as file:
            assert file[path.stem].num_entries == len(rows)
            if rows:
                assert repr(read(file, path.stem)) == repr(read(file, f"{path.stem}_rntuple")), "nan is nan"
        compared += len(rows)
    assert compared > 500
    with uproot.open(tmp_path / "operations.root") as file:
        expected = duckdb.read_csv(str(tmp_path / "operations.csv"))
        for column in ("id", "start", "end", "bytes"):
            wanted = [row[0] for row in expected.project(f'"{column}"').fetchall()]
            assert file["operations"][column].array().to_list() == wanted
        outcomes = [row[0] for row in expected.project("outcome").fetchall()]
        assert file["operations_rntuple"]["outcome"].array().to_list() == outcomes


def test_without_its_packages_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "pileup.builtin.exporters.root_format", raising=False)
    monkeypatch.setattr("pileup.builtin.analysis.packages.find_spec", lambda name: None)
    with pytest.raises(registry.PluginError, match=r"uproot, awkward; .*pip install 'pileup\[analysis\]'"):
        registry.load("exporters", "root")
