"""What goes wrong in somebody's Python tests is reported with line, values and traceback, from other processes too."""

from __future__ import annotations

from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.support import pileup, run_folder

MINE = """
import asyncio
import time
from pileup.plugin import Keys, Op, Program, ProgramClient, Step, Target, Test


class ShopBusy(Exception):
    pass


class Clerk(ProgramClient):
    def stat(self, call):
        raise ShopBusy("come back later")  # clerk


class Shop(Target):
    kind = "shop"
    needs_url = False
    refused = (ShopBusy,)

    def program_client(self):
        return lambda number: Clerk()


class Native(Test):
    needs = "shop"

    def program(self) -> Program:
        return Program((Step("stat", "stat", Keys.fixed("x")),))


class Plain(Test):
    needs = "shop"

    def run(self, op: Op) -> None:
        with op("stat"):
            raise ShopBusy("come back later")  # test


class Later(Test):
    async def setup(self):
        print("connecting")
        self.answers = [1, 2]

    async def run(self, op: Op) -> None:
        async with op("ask"):
            await asyncio.sleep(0)
            assert len(self.answers) == op.number


class Hangs(Test):
    def run(self, op: Op) -> None:
        with op("transfer"):
            time.sleep(15)


class Debugged(Test):
    def run(self, op: Op) -> None:
        breakpoint()


class Mixed(Test):
    async def setup(self): ...
    def run(self, op): ...
"""
SUITE = """
pileup: 1
title: own
targets:
  shop: {kind: "./mine.py:Shop"}
tests:
  - {name: native, use: "./mine.py:Native", target: shop}
  - {name: plain, use: "./mine.py:Plain", target: shop}
  - {name: later, use: "./mine.py:Later", load: {clients: 2, times: 20}}
  - {name: hangs, use: "./mine.py:Hangs", timeout: 300 ms}
  - {name: debugged, use: "./mine.py:Debugged"}
"""


def line(text: str) -> str:
    """Return where a line of the file is."""
    return f"mine.py:{next(number for number, each in enumerate(MINE.splitlines(), 1) if text in each)}"


@pytest.mark.long
def test_p2_p3_p5_p8_mistakes_are_told_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "suite.yaml").write_text(SUITE)
    done = pileup("run", "suite.yaml", "--quiet", "--fleet", "processes:2", cwd=tmp_path, drawn=True)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    folder = run_folder(done)
    record = RunFolder.open(folder)
    found = record.operations().connect().sql("select test, operation, error from operations where error != ''")
    told = {(test, operation): error for test, operation, error in found.fetchall()}
    told_by_assert = told["later", "ask"]
    assert told_by_assert == told["later", "iteration"]
    assert told_by_assert.startswith("assert len(self.answers) == op.number, where len(self.answers) = 2, ")
    assert told_by_assert.endswith(f"({line('assert len')})")
    assert told["hangs", "iteration"] == f"still going at the end, in 'transfer' ({line('time.sleep')})"
    assert told["debugged", "iteration"].startswith(f"breakpoint() at {line('breakpoint()')}; expected none: ")
    refused = record.operations().connect().sql("select test, outcome, error from operations where operation = 'stat'")
    found_in = {"native": line("# clerk"), "plain": line("# test")}
    assert set(refused.fetchall()) == {
        (test, "refused", f"ShopBusy: come back later ({where})") for test, where in found_in.items()
    }
    outputs = record.outputs()
    assert outputs["output/later/stdout.txt"].count("connecting") == 2
    assert "in run\n    assert len(self.answers) == op.number" in outputs["output/later/tracebacks.txt"]
    assert outputs["output/later/tracebacks.txt"].count("not kept") == 2, "each place says what it did not keep"
    assert "time.sleep(15)" in outputs["output/hangs/tracebacks.txt"]
    shown = pileup("show", str(folder), cwd=tmp_path)
    words = "".join(shown.stdout.split())
    assert f"hangs:tracebacksarein{folder / 'output' / 'hangs' / 'tracebacks.txt'}" in words
    assert "output/hangs/tracebacks.txt" in (folder / "report.html").read_text()


def test_p1_a_suite_with_a_test_of_two_kinds_is_not_valid(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "suite.yaml").write_text(SUITE.replace("Later", "Mixed"))
    done = pileup("validate", "suite.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert (
        f"{line('async def setup(self): ...')}: Mixed.setup is async and Mixed.run is not; "
        "expected an `async def run` too, or a plain `def setup`"
    ) in " ".join(done.stderr.split())
