"""Loads beside each other bring news into the record in turn, and nobody waits longer than a beat for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest

from pileup.run import session
from pileup.run.session import BEAT, SLICE, Live
from pileup.run.stop import StopMode


class Pressed:
    """A load that goes on for so many slices of a clock that it moves."""

    def __init__(self, clock: list[int], slices: int, beside: Callable[[], None] = lambda: None) -> None:
        self._clock, self._left, self._beside = clock, slices, beside

    def wait(self, seconds: float) -> bool:
        self._clock[0] += int(seconds * 1e9)
        self._beside()
        self._left -= 1
        return self._left <= 0

    def close(self) -> None:
        """Nothing to give back."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    moved = [1000 * BEAT]
    monkeypatch.setattr(session, "now", lambda: moved[0])
    return moved


@pytest.fixture
def served(clock: list[int], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When the record was served, s since the begin."""
    moments: list[float] = []
    monkeypatch.setattr(Live, "serve", lambda _: moments.append((clock[0] - 1000 * BEAT) / BEAT))
    monkeypatch.setattr(Live, "_take", lambda _, pressing: None)
    return moments


@pytest.fixture
def live() -> Live:
    parts: dict[str, Any] = {each.name: None for each in fields(Live) if each.init}
    return Live(**{**parts, "stop": SimpleNamespace(haste=StopMode.NONE)})


def slices(beats: float) -> int:
    return round(beats / SLICE)


def test_a_load_alone_serves_each_beat_and_at_its_end(live: Live, clock: list[int], served: list[float]) -> None:
    live.attend(Pressed(clock, slices(3.4)), 100 * BEAT)  # type: ignore[arg-type]
    assert served == pytest.approx([1, 2, 3, 3.4])


def test_one_that_looks_soon_after_another_leaves_it_to_that(live: Live, clock: list[int], served: list[float]) -> None:
    looks = {slices(each) for each in (0.8, 1.8, 2.8)}

    def beside() -> None:
        """Look as the other load does, 0.2 s before this one."""
        if slices(clock[0] / BEAT - 1000) in looks:
            live._serve_in_turn()

    live.attend(Pressed(clock, slices(3.4), beside), 100 * BEAT)  # type: ignore[arg-type]
    assert served == pytest.approx([0.8, 1.8, 2.8, 3.4]), "this one's looks at 1, 2 and 3 s come 0.2 s later"


def test_when_one_has_ended_the_next_look_of_another_serves(live: Live, clock: list[int], served: list[float]) -> None:
    live.attend(Pressed(clock, slices(1.2)), 100 * BEAT)  # type: ignore[arg-type]
    clock[0] += BEAT // 10
    live._serve_in_turn()
    assert served == pytest.approx([1, 1.2, 1.3]), "else a server that ends might be named after more than a beat"
