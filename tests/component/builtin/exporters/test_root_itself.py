"""Tables as ROOT files, read back by ROOT, where it is installed."""

import subprocess
import sys
from importlib.util import find_spec

import duckdb
import pytest

from pileup.cli.export.duckdb_table import DuckTable
from pileup.plugin import registry
from tests.support import give_up

READ = """
import ROOT, sys
for name in ("things", "things_rntuple"):
    frame = ROOT.RDataFrame(name, sys.argv[1])
    print(frame.Count().GetValue(), int(frame.Sum("i").GetValue()), frame.Sum("x").GetValue())
print(frame.Take["std::string"]("t").GetValue()[999])
"""


@pytest.mark.long
def test_root_reads_tree_and_ntuple(tmp_path):
    if find_spec("ROOT") is None:
        give_up("ROOT is not installed: pip install --pre ROOT")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE things AS SELECT i, i / 4 AS x, 'w' || i AS t FROM range(1000) r(i)")
        registry.load("exporters", "root")().write(DuckTable(connection, "things"), tmp_path / "t.root")
    command = [sys.executable, "-W", "ignore", "-c", READ, str(tmp_path / "t.root")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    assert done.stdout.split() == ["1000", "499500", "124875.0"] * 2 + ["w999"]
