"""How a load ended, made of how its parts did: by their kinds, whatever their sentences say."""

import pytest

from pileup.fleet import Fleet, Order, Pressing, Work
from pileup.model.ending import FINISHED, Ending, EndingKind
from pileup.model.errors import TargetError
from pileup.model.loads.load import Load

SET_UP = Ending(EndingKind.SET_UP_FAILED, "no disk")
LOST = Ending(EndingKind.PLACE_LOST, "place 2 (b) was lost: it is silent")
LOST_BEFORE = Ending(EndingKind.SET_UP_FAILED, LOST.why)
LIMIT = Ending(EndingKind.LIMIT, "7 errors in a row")
MISLEADING = Ending(EndingKind.STOPPED, "set-up failed: limit: the starts to replay cannot be read")


class Part:
    """A part of a load that is over."""

    over = True

    def __init__(self, ending: Ending, lost: bool = False) -> None:
        self.ending, self.lost, self.stops = ending, lost, 0

    def wait(self, seconds: float) -> bool:
        return True

    def stop(self, at_once: bool = False) -> None:
        self.stops += 1

    def settle(self) -> None:
        pass


def ending(*parts: Part) -> Ending:
    order = Order(1, "case", Load(times=1), 10**9, seed=1)
    return Pressing(order, parts).ending  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([Part(FINISHED), Part(FINISHED)], FINISHED),
        ([Part(FINISHED), Part(LIMIT)], LIMIT),
        ([Part(LIMIT), Part(SET_UP)], SET_UP),
        ([Part(FINISHED), Part(LOST, lost=True)], LOST),
        ([Part(FINISHED), Part(LOST_BEFORE, lost=True)], LOST),
        ([Part(LOST_BEFORE, lost=True), Part(LOST, lost=True)], LOST_BEFORE),
        ([Part(LOST, lost=True)], LOST),
        ([Part(MISLEADING)], MISLEADING),
    ],
)
def test_a_load_ended_as_its_parts_did(parts: list[Part], whole: Ending) -> None:
    assert ending(*parts) == whole


WORK = Work(lambda client: None)  # type: ignore[arg-type,return-value]


class Somewhere:
    """A place that notes which share it gets."""

    def __init__(self, number: int, lost: str = "") -> None:
        self.number, self.name, self.lost, self.shard, self.workers = number, f"process {number}", lost, None, 1

    def margin(self) -> int:
        return 0

    def prepare(self, order: Order, work: object, output: object, shard: tuple[int, int]) -> "Somewhere":
        self.shard = shard
        return self

    def ready(self) -> None:
        pass

    def begin(self, start: int) -> None:
        pass


@pytest.mark.parametrize(
    ("wanted", "lost", "shards"),
    [
        (None, 0, [(0, 3), (1, 3), (2, 3)]),
        (2, 0, [(0, 2), (1, 2), None]),
        (2, 1, [None, (0, 2), (1, 2)]),
        (frozenset({"3", "process 1"}), 0, [(0, 2), None, (1, 2)]),
        (frozenset({"1", "2"}), 1, [None, (0, 1), None]),
    ],
)
def test_a_load_is_shared_out_over_the_places_that_it_asks_for(wanted: object, lost: int, shards: list[object]) -> None:
    places = [Somewhere(number, "gone" if number == lost else "") for number in (1, 2, 3)]
    order = Order(1, "case", Load(times=9), 10**9, seed=1, places=wanted)  # type: ignore[arg-type]
    Fleet(places).press(order, WORK, None)  # type: ignore[arg-type]
    assert [place.shard for place in places] == shards


def test_a_load_whose_places_are_lost_is_pressed_by_no_others() -> None:
    places = [Somewhere(1), Somewhere(2, "it is silent")]
    order = Order(1, "case", Load(times=9), 10**9, seed=1, places=frozenset({"2"}))
    with pytest.raises(TargetError, match=r"no place is left to run the load: place 2 \(process 2\): it is silent"):
        Fleet(places).press(order, WORK, None)  # type: ignore[arg-type]
    assert places[0].shard is None
