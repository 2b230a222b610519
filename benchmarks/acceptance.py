"""The acceptance of a storage in full, its record held to the counters of the server.

    python benchmarks/acceptance.py [--keep] [NAME=VALUE ...]

Runs examples/vendor-acceptance.yaml on private servers, 250 copies and 100 direct readers unless values say otherwise,
and prints what the XRootD server has counted beside what the record has: files opened, bytes sent and taken. With
--keep the report goes to docs/measured/vendor-acceptance.html, without the folders of this machine. Ends with 1
when the opens differ, when the server counts fewer bytes than the record, or more than 5 % more, or when the verdict is
not that all criteria are met.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb

from pileup.record import RunFolder

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "docs/measured/vendor-acceptance.html"
OPENED = """
with turns as (
    select test, operation, key, lag(key) over (partition by test, client order by start) as before
    from read_parquet({0}) where target = 'se' and operation in ('write', 'copy', 'read')
)
select count(*) from turns where test <> 'direct' or before is null or before <> key
"""
"""Each write and copy opens its file, a direct reader only when it goes to another."""
MOVED = """
select coalesce(sum(bytes) filter (test not in ('fill', 'in')), 0)::bigint,
    coalesce(sum(bytes) filter (test in ('fill', 'in')), 0)::bigint
from read_parquet({0}) where target = 'se' and operation in ('write', 'copy', 'read')
"""
"""Bytes that the server has sent, and taken. What was under way at the end of a load counts, too."""
FRAMING = 1.05
"""The server counts the bytes of connections: headers of requests and answers, too."""


def recorded(folder: Path) -> dict[str, int]:
    """Return files opened, bytes sent by the server and bytes taken by it, by the record of a run."""
    tables = [str(path) for path in folder.glob("operations/*.parquet")]
    connection = duckdb.connect()
    (opens,) = connection.execute(OPENED.format(tables)).fetchall()[0]
    sent, taken = connection.execute(MOVED.format(tables)).fetchall()[0]
    return {"opens": opens, "out": sent, "in": taken}


def counted(folder: Path) -> dict[str, int]:
    """Return the last counts of the server."""
    rows = [row.sample for row in RunFolder.open(folder).samples() if row.monitor == "xrootd"]
    last = {sample.metric: sample.value for sample in rows}
    return {name: int(last[name]) for name in ("opens", "out", "in")}


def agree(record: dict[str, int], server: dict[str, int]) -> bool:
    """Whether the server has opened as many files, and moved the bytes of the record with what goes with them."""
    moved = all(record[name] <= server[name] <= FRAMING * record[name] for name in ("out", "in"))
    return moved and record["opens"] == server["opens"]


def keep(folder: Path) -> None:
    """Write the report where the docs link to it, without the folders of this machine."""
    text = (folder / "report.html").read_text(encoding="utf-8")
    KEPT.write_text(text.replace(f"{folder.parent}/", "").replace(f"{ROOT}/", ""), encoding="utf-8")


def main() -> int:
    """Run, compare, keep."""
    words = sys.argv[1:]
    sets = [word for value in words if value != "--keep" for word in ("--set", value)]
    command = [sys.executable, "-m", "pileup", "run", str(ROOT / "examples/vendor-acceptance.yaml"), *sets]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    folder = Path(done.stdout.split()[-1])
    record, server = recorded(folder), counted(folder)
    for name, number in record.items():
        print(f"{name:6} {number:>18,} in the record {server[name]:>18,} counted by the server")
    if "--keep" in words:
        keep(folder)
        print(KEPT)
    return int(done.returncode != 0 or not agree(record, server))


if __name__ == "__main__":
    sys.exit(main())
