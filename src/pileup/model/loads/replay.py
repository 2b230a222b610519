"""Loads that replay the starts of an earlier record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, StringConstraints

from pileup.model.loads.shape import Kind, Shape
from pileup.model.suite_part import Part

Place = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Named = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
SLOWEST, FASTEST = 1e-6, 1e6


class Replay(Part):
    """Begin an iteration whenever one was due in an earlier record: only the starts are taken from it."""

    run: Place = Field(
        description="run folder, or a Parquet file of operations; relative to the folder of the suite file"
    )
    test: Named | None = Field(
        None, description="test of that run, or one of its cases; may be left out where the record has only one case"
    )
    speed: float = Field(
        1.0, ge=SLOWEST, le=FASTEST, description="how many times as fast: at 4 a pause of 2 s becomes one of 0.5 s"
    )

    @property
    def words(self) -> str:
        """`replay of copy in 2026-before at 2.5 x its speed`."""
        whose = f"{self.test} in " if self.test else ""
        speed = "" if self.speed == 1 else f" at {self.speed:g} x its speed"
        return f"replay of {whose}{PurePath(self.run).name or self.run}{speed}"


def _short(value: object) -> object:
    return {"run": value} if isinstance(value, str) else value


ReplayWord = Annotated[Replay, BeforeValidator(_short)]


class ReplayShape(Shape):
    """The starts of a record. What is known only with the record is in `Starts`."""

    __slots__ = ()
    word: ClassVar[str] = "replay"

    @property
    def kind(self) -> Kind:
        """It is open."""
        return "open"

    @property
    def words(self) -> str:
        """`open, replay of copy in 2026-before for 1 min`."""
        replay = self.load.replay.words if self.load.replay else ""
        return f"open, {replay}{self.end_words}{self.most_words}"

    def problems(self) -> Iterator[str]:
        """Nothing beside it says when iterations begin."""
        if others := self.others("arrivals", "ramp", beside=("clients", "times")):
            yield (
                f"replay is combined with {others}: the record says when iterations begin; expected at most clients, "
                "warm_up, for, times and delay beside it"
            )

    @property
    def ends(self) -> bool:
        """It ends with the record."""
        return True
