"""Loads whose level follows a measured quantity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from pileup.model import check as checks
from pileup.model import units
from pileup.model.check import Check
from pileup.model.loads.levels import Steered, levels_words
from pileup.model.loads.shape import Kind, Native, Shape
from pileup.model.quantities import Duration
from pileup.model.suite_part import Part

OPEN, IN_FLIGHT = "open", "in_flight"
"""Quantities that a hold may use in addition to figures of checks: open operations, and iterations in flight."""
MOST_CLIENTS = 1_000_000
Written = Annotated[str, StringConstraints(max_length=500)]


def _read_level(value: object) -> object:
    """Read a number of clients, or a rate with its unit."""
    if isinstance(value, str):
        number, unit = units.split_quantity(value)
        dimension = units.dimension_of(unit) if unit else None
        if unit and dimension not in ("rate", "count"):
            raise ValueError(f"{value!r} is not a level; expected a rate like '10 /s', or a number of clients")
        value = float(number * (units.DIMENSIONS[dimension].units[unit] if dimension else 1))
    if isinstance(value, (int, float)) and not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{value} is not a level; expected a number from 0")
    return value


_LEVEL: dict[str, Any] = {"type": ["string", "number"], "examples": ["10 /s"], "x-dimension": "rate"}
Level = Annotated[float, BeforeValidator(_read_level), Field(json_schema_extra=_LEVEL)]


def check_levels(kind: Steered, between: tuple[float, float]) -> None:
    """Raise ValueError unless this is a range of levels: [lowest, highest]; clients come in whole numbers."""
    low, high = between
    if not low < high:
        raise ValueError(f"between goes from {low:g} to {high:g}; expected [lowest level, highest level]")
    if kind == "clients" and (low != int(low) or high != int(high) or high > MOST_CLIENTS):
        raise ValueError(f"between is [{low:g}, {high:g}] clients; expected whole numbers up to {MOST_CLIENTS}")


class Hold(Part):
    """Steer the load so that a measured quantity stays at a set point, behind whatever dead time there is."""

    metric: Written = Field(
        description="what is held: MONITOR.METRIC[label=value] (its newest sample), a figure as in checks such as "
        "p99(read.response) or rate(copy.bytes), in_flight(TEST), or open(TEST): detached operations under way"
    )
    at: Written = Field(description="the set point with its unit, e.g. 5000, 200 MB/s, 50 ms")
    band: Written = Field("5 %", description="width of the band around it: a share of it, or an amount with its unit")
    by: Steered = Field(
        "rate", description="what is changed: iterations started per second (open), or clients (closed)"
    )
    between: tuple[Level, Level] = Field(description="[lowest, highest] level")
    start: Level | None = Field(None, description="level to begin with; default: a tenth of the way up")
    settle: Duration = Field(
        60 * 10**9, ge=0, description="time to reach the set point; left out of the figures like a warm-up"
    )
    every: Duration = Field(10**9, ge=10**9, description="interval between samples")
    over: Duration | None = Field(
        None, ge=10**9, description="time window of a figure of a test; default: the interval"
    )
    effect: Literal["raises", "lowers"] = Field("raises", description="what a higher level does to the quantity")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_levels(self.by, self.between)
        low, high = self.between
        if self.start is not None and not low <= self.start <= high:
            raise ValueError(f"start is {self.start:g}; expected a level between {low:g} and {high:g}")
        if self.half <= 0:
            raise ValueError(f"the band {self.band!r} is empty; expected a share like 5 %, or an amount like {self.at}")
        return self

    @property
    def check(self) -> Check:
        """The figure and its set point, as a check that is never judged. Raises ValueError for what cannot be read."""
        word, test = self.special or ("", "")
        figure = f"count({test})" if word else self.metric if "(" in self.metric else f"last({self.metric})"
        return checks.parse(f"{figure} == {self.at}")

    @property
    def special(self) -> tuple[str, str] | None:
        """(open or in_flight, name of the test) where one of these is held."""
        word, found, rest = self.metric.strip().partition("(")
        if not found or word.strip() not in (OPEN, IN_FLIGHT):
            return None
        return word.strip(), rest.rstrip().removesuffix(")").strip()

    @property
    def set_point(self) -> float:
        """In the base unit of its dimension."""
        return self.check.value

    @property
    def half(self) -> float:
        """Half of the width of the band, in the base unit of the set point."""
        number, unit = units.split_quantity(self.band)
        if unit == "%" and self.check.dimension != "fraction":
            return abs(self.set_point) * float(number) / 100
        dimension = units.dimension_of(unit) if unit else None
        if (dimension or checks.BARE) != self.check.dimension:
            raise ValueError(
                f"the band {self.band!r} is not a share and has not the unit of {self.at!r}; expected e.g. 5 %"
            )
        return float(number * (units.DIMENSIONS[dimension].units[unit] if dimension else 1))

    @property
    def first(self) -> float:
        """The level to begin with."""
        low, high = self.between
        level = self.start if self.start is not None else low + (high - low) / 10
        return float(max(round(level), 1)) if self.by == "clients" else level

    @property
    def words(self) -> str:
        """`queue.waiting held at 5000 (band 5 %) by 0-50 /s`."""
        return f"{self.metric} held at {self.at} (band {self.band}) by {levels_words(self.by, self.between)}"


class HoldShape(Shape):
    """A load whose level follows a measured quantity."""

    __slots__ = ()
    word: ClassVar[str] = "hold"

    @property
    def hold(self) -> Hold:
        """Its words."""
        if self.load.hold is None:
            raise ValueError("the load holds nothing; expected one with `hold`")
        return self.load.hold

    @property
    def kind(self) -> Kind:
        """By what is changed."""
        return kind_of(self.hold.by)

    @property
    def words(self) -> str:
        """`open, queue.waiting held at 5000 (band 5 %) by 0-50 /s for 10 min`."""
        return f"{self.kind}, {self.hold.words}{self.end_words}"

    def problems(self) -> Iterator[str]:
        """No other level is written beside it."""
        if others := self.others("ramp", "warm_up", beside=most_beside(self.hold.by)):
            yield f"hold is combined with {others}; expected e.g. {{hold: {{...}}, for: 10 min}} with settle inside"

    @property
    def steered_by(self) -> Steered:
        """What is changed."""
        return self.hold.by

    @property
    def looks(self) -> tuple[Check, ...]:
        """What is held."""
        return (self.hold.check,)

    @property
    def settle(self) -> int:
        """The time to reach the set point."""
        return self.hold.settle

    def to_native(self) -> Native:
        """The words of the load, with the level of the start and the highest."""
        return super().to_native() | steered(self.hold.by, self.hold.first, self.hold.between[1])


def most_beside(by: Steered) -> tuple[str, ...]:
    """Return the keys that may be combined with it: the most in flight of an open load."""
    return ("clients",) if by == "rate" else ()


def kind_of(by: Steered) -> Kind:
    """Return the kind of a load of which this is changed."""
    return "open" if by == "rate" else "closed"


def steered(by: Steered, first: float, most: float) -> Native:
    """Return the input of the engine for a load whose level is changed during the load."""
    return {by: first if by == "rate" else int(first), "steered": most}
