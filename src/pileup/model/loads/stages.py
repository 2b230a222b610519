"""Levels one after another."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import ClassVar, Self

from pydantic import Field, model_validator

from pileup.model.loads.shape import Kind, Native, Shape, number_words
from pileup.model.quantities import Count, Duration, Rate
from pileup.model.suite_part import Part
from pileup.model.units import counted, format_rate, format_time


class Stage(Part):
    """One of several levels of a load, one after another. The ramp goes from the level before to this one."""

    clients: Count | None = Field(None, ge=0, le=1_000_000, description="this many clients (closed)")
    rate: Rate | None = Field(None, description="iterations started per second (open)")
    ramp: Duration = Field(0, description="time over which the level before becomes this one; left out of the figures")
    warm_up: Duration = Field(0, description="time at this level before it is measured; left out of the figures")
    for_: Duration = Field(alias="for", gt=0, description="time measured at this level")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.clients is None) == (self.rate is None):
            raise ValueError("a stage has one level; expected clients or rate")
        return self

    @property
    def words(self) -> str:
        """`10 /s for 1 min`."""
        level = format_rate(self.rate) if self.rate is not None else number_words(self.clients or 0, "client")
        return f"{level} for {format_time(self.for_)}"

    @property
    def level(self) -> float:
        """Its clients, or its rate."""
        return float(self.clients if self.clients is not None else self.rate or 0)

    @property
    def lasting(self) -> int:
        """How long it takes with its ramp, ns."""
        return self.ramp + self.warm_up + self.for_

    def to_native(self) -> Native:
        """Return it as the engine takes it."""
        return {"level": self.level, "ramp": self.ramp, "warm_up": self.warm_up, "for": self.for_}


class StagesShape(Shape):
    """Levels one after another: clients of a closed load, or rates of an open one."""

    __slots__ = ()
    word: ClassVar[str] = "stages"
    element: ClassVar[str] = "stage"

    @property
    def _stages(self) -> tuple[Stage, ...]:
        return self.load.stages or ()

    @property
    def kind(self) -> Kind:
        """That of the first level."""
        return "open" if self._stages[0].rate is not None else "closed"

    @property
    def words(self) -> str:
        """`open, 2 stages: 10 /s for 1 min, 20 /s for 1 min`."""
        stages = ", ".join(stage.words for stage in self._stages)
        return f"{self.kind}, {counted(len(self._stages), 'stage')}: {stages}"

    def problems(self) -> Iterator[str]:
        """All levels are inside, and of one kind."""
        most = ("clients",) if self.kind == "open" else ()
        if self.others("ramp", "warm_up", "for_", beside=most):
            yield "stages are combined with another level; expected clients, rate, ramp and for inside the stages"
        if len({stage.clients is None for stage in self._stages}) > 1:
            yield "some stages have clients, others a rate; expected one kind of level"

    @property
    def ends(self) -> bool:
        """Each stage has a time."""
        return True

    @property
    def levels(self) -> tuple[tuple[int, int, float], ...]:
        """When each stage is at its level; a pause is none."""
        ends = list(accumulate(stage.lasting for stage in self._stages))
        begins = (end - stage.warm_up - stage.for_ for stage, end in zip(self._stages, ends, strict=True))
        levels = (stage.level for stage in self._stages)
        return tuple(each for each in zip(begins, ends, levels, strict=True) if each[2] > 0)

    def to_native(self) -> Native:
        """The words of the load, with its levels."""
        return super().to_native() | {"segments": [stage.to_native() for stage in self._stages]}
