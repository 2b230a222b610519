"""Presses a program once, by the engine or by a client in Python, and gives the rows of its record."""

import shutil
from pathlib import Path
from typing import Any

from pileup.fleet import Fleet, Order, Work
from pileup.fleet.place import LocalPlace
from pileup.fleet.program_runner import ProgramTest, operations_of
from pileup.fleet.python.capture import routed
from pileup.model.loads.load import Load
from pileup.model.program import ClientSpec, Program
from pileup.plugin import Context, ProgramClient
from pileup.record import RunFolder
from tests.manifests import run_of

SECOND = 10**9
SEED = 11
Row = dict[str, Any]
COLUMNS = (
    "operation, parent = 0 as iteration, coalesce(key, '') as key, outcome, bytes, calls, coalesce(error, '') as error"
)


def rows(folder: Path, work: Work, load: Load, timeout: int) -> list[Row]:
    """Press the work at the local place and return its rows, sorted. `folder` is made, and removed again."""
    record = RunFolder.create(folder, "t", 0)
    record.save(run_of({"title": "t", "cases": [{"id": 1, "name": "case", "test": "case"}]}))
    place = Fleet([LocalPlace(0, record.operations_path(0))])
    with routed():
        pressing = place.press(Order(1, "case", load, timeout, seed=SEED), work, record.output("case"))
        assert pressing.wait(120), "it does not end"
        pressing.close()
    place.close()
    table = record.operations().connect()
    found = table.sql(f"select {COLUMNS} from operations order by all")
    told = [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    table.close()
    record.close()
    shutil.rmtree(record.path)
    return told


def by_engine(folder: Path, program: Program, client: ClientSpec, load: Load, timeout: int = 5 * SECOND) -> list[Row]:
    """Return the rows of a program that the engine does."""
    return rows(folder, Work(_never, program, client), load, timeout)


def by_python(
    folder: Path, program: Program, client: ProgramClient, load: Load, timeout: int = 5 * SECOND
) -> list[Row]:
    """Return the rows of a program that this client does, all virtual clients the same one."""

    def make(number: int) -> ProgramTest:
        return ProgramTest(program, SEED, lambda _: client, Context(timeout=timeout, client=number))

    return rows(folder, Work(make), load, timeout * operations_of(program))


def _never(number: int) -> ProgramTest:
    raise AssertionError(f"client {number} was asked for in Python")
