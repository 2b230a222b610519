"""Frames and run folders with known content."""

import importlib.util

import pytest

from pileup._core._native import Histogram
from pileup.model.record import UNRECORDED, Frame, FrameRow
from tests.support import ROOT

GOLDEN = ROOT / "tests" / "golden"
SECOND = 10**9
START = 1_795_000_000 * SECOND


def encoded(times):
    made = Histogram()
    for time in times:
        made.record(time)
    return made.encode() if times else b""


@pytest.fixture
def row():
    def make(times=(), operation="iteration", iteration=True, phase=3, moved=0, **counts):
        passed = counts.pop("passed", len(times))
        counts["moved"] = counts.pop("bytes_that_came", UNRECORDED)
        counters = dict.fromkeys(("failed", "refused", "ambiguous", "unfinished", "lost"), 0) | counts
        times = encoded(times)
        return FrameRow(
            operation, iteration, phase, passed=passed, bytes=moved, calls=1, response=times, service=times, **counters
        )

    return make


@pytest.fixture
def frame():
    def make(second, *rows, seconds=1.0, late=(), **fields):
        known = {"place": 0, "case": 1, "phase": 3, "started": 0, "missed": 0, "in_flight": 0, "clients": 1, "cpu": 0}
        head = {**known, **fields}
        time = START + int(second * SECOND)
        return Frame(time=time, nanoseconds=int(seconds * SECOND), late=encoded(late), rows=tuple(rows), **head)

    return make


@pytest.fixture(scope="session")
def golden():
    spec = importlib.util.spec_from_file_location("golden_make", GOLDEN / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
