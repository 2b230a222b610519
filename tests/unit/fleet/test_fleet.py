"""How a load ended, made of how its parts did: by their kinds, whatever their sentences say."""

import pytest

from pileup.fleet import Order, Pressing
from pileup.model.ending import FINISHED, Ending, EndingKind
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
