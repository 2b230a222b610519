"""What is said of cases whose beginning was not steady."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pileup._core._native import Histogram
from pileup.model.event import Event
from pileup.model.record import Frame, FrameRow, Phase
from pileup.stats.frames.window import Window
from pileup.stats.loads.settling import event, settled, settled_words
from tests.manifests import case_of

SECOND = 10**9
WARM_UP, WHOLE = 10, 120


def _frame(second: int, milliseconds: float) -> Frame:
    random = np.random.default_rng(second)
    times = Histogram()
    for factor in random.lognormal(0, 0.1, 50):
        times.record(int(milliseconds * factor * 1e6))
    phase = Phase.WARM_UP if second < WARM_UP else Phase.MEASURE
    row = FrameRow(
        operation="read", iteration=True, phase=phase, passed=50, failed=0, refused=0, ambiguous=0, unfinished=0,
        lost=0, bytes=0, calls=0, response=times.encode(), service=times.encode(),
    )  # fmt: skip
    return Frame(
        time=(second + 1) * SECOND, nanoseconds=SECOND, place=0, case=1, phase=phase, started=50, missed=0,
        in_flight=1, clients=4, cpu=0, late=b"", rows=(row,),
    )  # fmt: skip


def _settled(slow: int, info: dict[str, Any] | None = None, events: tuple[Event, ...] = (), whole: int = WHOLE) -> Any:
    """Responses of 40 ms in the first `slow` seconds, of 20 ms from then on."""
    frames = [_frame(second, 40 if second < slow else 20) for second in range(whole)]
    window = Window(WARM_UP * SECOND, whole * SECOND)
    return settled(case_of({"started": 0} | (info or {})), frames, window, events)


def test_a_warm_up_that_was_too_short_is_told_with_what_would_do() -> None:
    found = _settled(30)
    assert (found.began, found.level, found.late) == (30 * SECOND, 0, 20 * SECOND)
    words = settled_words(found)
    assert words.startswith("steady state began 20 s into the measured time: the median response was 39.9 ms")
    assert words.endswith("`warm_up: 30 s` would leave the beginning out")
    mark = event("read", found)
    assert mark is not None
    assert (mark.kind, mark.begin, mark.text) == (
        "steady", 30 * SECOND, "read: steady state, 30 s after the load had its level",
    )  # fmt: skip


def test_a_warm_up_that_was_long_enough_leaves_a_mark_and_no_note() -> None:
    found = _settled(10)
    assert (found.began, found.late) == (10 * SECOND, 0)
    assert settled_words(found) == ""
    assert event("read", found) is not None


def test_what_was_steady_at_once_has_neither() -> None:
    found = _settled(0)
    assert found.began == found.level == 0
    assert settled_words(found) == ""
    assert event("read", found) is None


def test_what_never_became_steady_is_told() -> None:
    frames = [_frame(second, 20 + second) for second in range(WHOLE)]
    found = settled(case_of({}), frames, Window(WARM_UP * SECOND, WHOLE * SECOND), ())
    assert found is not None
    assert found.began is None
    assert settled_words(found).startswith("no steady state: the median response changed to the end (mean 79")
    assert event("read", found) is None


@pytest.mark.parametrize(
    "info", [{"spans": [[0, 1]]}, {"hold": {"at": 1}}, {"find": {"while": ""}}, {"replay": {"run": ""}}]
)
def test_nothing_is_said_of_a_level_that_changes_by_itself(info: dict[str, Any]) -> None:
    assert _settled(30, info) is None


def test_nothing_is_said_of_what_was_upset_or_too_short() -> None:
    fault = Event("fault", "restart", 50 * SECOND, 51 * SECOND)
    assert _settled(30, events=(fault,)) is None
    assert _settled(30, events=(Event("fault", "restart", 500 * SECOND, 501 * SECOND),)) is not None
    assert _settled(30, whole=40) is None
