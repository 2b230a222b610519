"""Loads that replay the starts of an earlier record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Starts:
    """What a load replays: the first `count` starts of one case of a record. Times in ns, as they will be due."""

    source: str
    """Run folder or Parquet file."""
    case: str
    """Name of the case there."""
    recorded: int
    """How many starts the case has in the record."""
    count: int
    """How many of these, from the first on, the load has."""
    last: int
    """When the last of them is due, after the begin of the load."""
    measured: int
    """How many are due after the warm-up."""
    settled: int
    """When the first of these is due, after the begin of the load."""

    @property
    def pace(self) -> float:
        """Starts per second in the mean over all, a second at least: for what must be ready at the begin."""
        return self.count / max(self.last / 1e9, 1.0)

    @property
    def asked(self) -> float:
        """Starts per second in the mean over what is measured."""
        time = (self.last - self.settled) / 1e9
        return (self.measured - 1) / time if time > 0 else float(self.measured)
