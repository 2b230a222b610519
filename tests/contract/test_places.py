"""What every place in another process promises: its clock is set right, its end is reported, nonsense is refused."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pileup._core._native import now
from pileup.fleet import Fleet, Order, Work
from pileup.fleet.launch import Start, process
from pileup.fleet.opening import Opener
from pileup.fleet.remote import RemotePlace
from pileup.fleet.wire import Message, WireError
from pileup.model.ending import FINISHED
from pileup.model.errors import TargetError
from pileup.model.loads.load import Load
from pileup.model.program import Program, Step
from pileup.model.record import Frame
from pileup.plugin import Test
from pileup.record import RunFolder
from pileup.suite import load
from tests.manifests import run_of

SECOND = 10**9
HOUR = 3600 * SECOND
SUITE = """
pileup: 1
title: t
tests: [{name: case, use: ./own.py:Own}]
"""
OWN = '''
"""A test."""
from pileup.plugin import Test


class Own(Test):
    """Nothing."""

    def run(self, op):
        self.report("number", op.number)
        self.claim(f"{self.stamp}-{op.number}", "", "delegation")
'''


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[RunFolder]:
    folder = RunFolder.create(tmp_path / "runs", "t", 0)
    folder.save(run_of({"title": "t", "cases": [{"id": 1, "name": "case", "test": "case"}]}))
    yield folder
    folder.close()


@pytest.fixture
def opener(folder: RunFolder, tmp_path: Path) -> Opener:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "own.py").write_text(OWN)
    return Opener(folder, (load(tmp_path / "suite.yaml", {}), {}, {}), {})


def no_test(client: int) -> Test:
    raise AssertionError


PYTHON = Work(no_test)
NATIVE = Work(no_test, Program((Step("noop", "noop"),)))


def pressed(fleet: Fleet, folder: RunFolder, work: Work, **words: object) -> list[Frame]:
    order = Order(1, "case", Load.model_validate(words), 5 * SECOND, seed=1)
    pressing = fleet.press(order, work, folder.output("case"))
    assert pressing.wait(20), "it does not end"
    assert (pressing.over, pressing.ending) == (True, FINISHED)
    frames = pressing.frames()
    pressing.close()
    return frames


def test_a_clock_that_is_wrong_by_an_hour_is_set_right(folder: RunFolder, opener: Opener) -> None:
    shifts = (0, -HOUR, HOUR + 123_456_789)
    places = opener.open([(number, process(number, ("--shift", str(by)))) for number, by in enumerate(shifts, 1)])
    fleet = Fleet(places)
    begun = now()
    frames = pressed(fleet, folder, NATIVE, rate=200, **{"for": SECOND})
    fleet.close()
    rows = folder.operations().arrays("place", "intended", "start", "end")
    assert begun < rows["intended"].min()
    assert rows["end"].max() < now()
    assert np.abs(np.diff(np.sort(rows["intended"])) - 5_000_000).max() <= 2, "the shards make one grid"
    assert len(rows["place"]) == 200 == sum(row.passed for frame in frames for row in frame.rows)
    assert all(begun < frame.time < now() for frame in frames)
    for place, by in zip(places, shifts, strict=True):
        told = place.entry()
        assert abs(told.offset - by) <= told.error + 50_000
        assert 0 < told.error < SECOND


def test_a_python_test_is_made_at_the_place_from_the_plan(folder: RunFolder, opener: Opener) -> None:
    fleet = Fleet(opener.open([(1, process(1)), (2, process(2))]))
    order = Order(1, "case", Load(times=20, clients=4), 5 * SECOND, seed=1, stamp="abc")
    pressing = fleet.press(order, PYTHON, folder.output("case"))
    assert pressing.wait(20)
    assert sorted(int(each.value) for each in pressing.reported()) == list(range(20))
    claimed = [(name, id_, what) for _, name, id_, what in pressing.claimed()]
    assert sorted(claimed) == sorted((f"abc-{number}", "", "delegation") for number in range(20))
    assert pressing.claimed() == []
    pressing.close()
    fleet.close()


def test_a_load_that_the_engine_refuses_is_told_with_its_words(folder: RunFolder, opener: Opener) -> None:
    fleet = Fleet(opener.open([(1, process(1))]))
    wrong = Work(no_test, Program((Step("noop", "dance"),)))
    with pytest.raises(ValueError, match="dance"):
        pressed(fleet, folder, wrong)
    assert sum(row.passed for frame in pressed(fleet, folder, NATIVE, times=3) for row in frame.rows) == 3
    fleet.close()


@pytest.mark.long
def test_a_lost_place_is_opened_anew_with_a_number_of_its_own(folder: RunFolder, opener: Opener) -> None:
    fleet = Fleet(opener.open([(1, process(1))]), opener.reopen)
    (place,) = fleet.places
    assert isinstance(place, RemotePlace)
    place.lose("the test says so")
    assert fleet.lost == [place]
    with pytest.raises(TargetError, match="no place is left"):
        pressed(fleet, folder, NATIVE)
    (fresh,) = fleet.renew(5)
    assert (fresh.number, fleet.lost) == (5, [])
    assert len(pressed(fleet, folder, NATIVE)) >= 1
    fleet.close()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("/bin/sh", "-c", "echo no pileup here >&2; exit 3"), "ended with code 3 and said: no pileup here"),
        (("/bin/sh", "-c", "exec sleep 100 <&- >&-"), "closed its pipe|ended"),
        (("/nowhere/python",), "cannot be started"),
        (("/bin/sh", "-c", "yes | head -c 400000"), "much text, and no hello"),
    ],
)
def test_what_is_no_place_is_told(opener: Opener, command: tuple[str, ...], told: str) -> None:
    with pytest.raises(TargetError, match=told):
        opener.open([(1, Start("wrong", command, False, "python"))])


def test_a_banner_before_the_hello_is_stepped_over(folder: RunFolder, opener: Opener) -> None:
    words = " ".join(process(1).command)
    start = Start("chatty", ("/bin/sh", "-c", f"echo 'welcome to this host'; exec {words}"), False, "python")
    fleet = Fleet(opener.open([(1, start)]))
    assert len(pressed(fleet, folder, NATIVE)) >= 1
    fleet.close()


def test_another_version_is_refused_with_both_numbers(opener: Opener) -> None:
    code = (
        "import sys; from pileup.fleet.wire import *;"
        "sys.stdout.buffer.write(HELLO + encode('hello', {'version': '9.9', 'protocol': 1, 'host': 'h'}));"
        "sys.stdout.flush(); sys.stdin.read()"
    )
    import sys

    with pytest.raises(TargetError, match=r"has pileup 9\.9 .*expected \d.* as here"):
        opener.open([(1, Start("old", (sys.executable, "-c", code), False, "python"))])


def test_s21_a_table_that_grows_beyond_its_operations_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    place = RemotePlace(7, process(7), folder, {})
    try:
        with (tmp_path / "table").open("wb", buffering=0) as table:
            place._table = table
            piece = Message("table", {}, (bytes(8 << 20),))
            with pytest.raises(WireError, match="for 0 operations"):
                for _ in range(100):
                    place._take(piece)
            assert table.tell() <= 256 << 20
    finally:
        place._table = None
        place.close()
