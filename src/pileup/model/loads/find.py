"""A load that searches for the highest level that still meets its conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field, model_validator

from pileup.model import conditions
from pileup.model.check import Check
from pileup.model.loads.hold import Level, Written, check_levels, kind_of, most_beside, steered
from pileup.model.loads.levels import Steered, asked_words, levels_words
from pileup.model.loads.shape import Kind, Native, Shape
from pileup.model.quantities import Count, Duration, Fraction
from pileup.model.suite_part import Part

if TYPE_CHECKING:
    from pileup.model.loads.load import Load

MOST_TRIALS = 1000
MOST_MEASURED = 4
"""Most levels that are measured, each time a lower one, until one meets the conditions."""
LEAST_WITHIN, MOST_WITHIN = 0.005, 0.5


class Find(Part):
    """Look for the highest load that still meets its conditions, by trials at levels chosen by what is known so far."""

    raise_: Steered = Field(
        alias="raise", description="what is raised: iterations started per second (open), or clients"
    )
    while_: Written = Field(
        alias="while",
        description="what must hold at a level: a check, or several joined by `and`, e.g. p99(read.response) < 50 ms "
        "and fraction(read.refused) < 0.1 %; each is evaluated over one trial",
    )
    not_passed: Fraction = Field(
        0.01,
        description="largest share of due iterations that may not pass (failed, refused, ambiguous, unfinished, "
        "lost or missed), whatever `while` says; 100 %: only `while` decides",
    )
    between: tuple[Level, Level] = Field(description="[lowest, highest] level that may be tried, above zero")
    start: Level | None = Field(None, description="level of the first trial; default: the lowest")
    settle: Duration = Field(2 * 10**9, description="time at each level before its trial")
    trial: Duration = Field(10**10, ge=10**9, description="length of a trial; a longer trial depends less on chance")
    within: Fraction = Field(
        0.05, description="the search ends when the interval of the limit is within this share of it, on both sides"
    )
    at_most: Count = Field(40, ge=2, le=MOST_TRIALS, description="largest number of trials")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        low, high = self.between
        if not 0 < low < high:
            raise ValueError(f"between goes from {low:g} to {high:g}; expected [lowest level above 0, highest level]")
        check_levels(self.raise_, self.between)
        if not low <= self.first <= high:
            raise ValueError(f"start is {self.first:g}; expected a level between {low:g} and {high:g}")
        if self.raise_ == "clients" and self.first != int(self.first):
            raise ValueError(f"start is {self.first:g} clients; expected a whole number")
        if self.not_passed > 1:
            raise ValueError(f"not_passed is {self.not_passed:.4g}; expected a share between 0 % and 100 %, like 1 %")
        if not LEAST_WITHIN <= self.within <= MOST_WITHIN:
            raise ValueError(f"within is {self.within:.4g}; expected a share between 0.5 % and 50 %, like 5 %")
        return self

    @property
    def conditions(self) -> tuple[Check, ...]:
        """The conditions at a level, except `not_passed`. Raises ValueError for checks that cannot be read."""
        return conditions.parse(self.while_)

    @property
    def first(self) -> float:
        """The level of the first trial."""
        return self.between[0] if self.start is None else self.start

    @property
    def words(self) -> str:
        """All that must hold at a level, in words."""
        return asked_words(self.while_, self.not_passed)


class FindShape(Shape):
    """A load that tries one level after another until the highest good one is known, and is then measured there."""

    __slots__ = ()
    word: ClassVar[str] = "find"

    @property
    def find(self) -> Find:
        """Its words."""
        if self.load.find is None:
            raise ValueError("the load looks for nothing; expected one with `find`")
        return self.load.find

    @property
    def kind(self) -> Kind:
        """By what is raised."""
        return kind_of(self.find.raise_)

    @property
    def words(self) -> str:
        """`open, the highest of 10-500 /s with p99(read) < 50 ms, then there for 1 min`."""
        find = self.find
        levels = levels_words(find.raise_, find.between)
        return f"{self.kind}, the highest of {levels} with {find.words}, then there{self.end_words}"

    def problems(self) -> Iterator[str]:
        """No other level is written beside it, and the one found is measured for a time."""
        if others := self.others("ramp", "warm_up", beside=most_beside(self.find.raise_)):
            yield f"find is combined with {others}; expected e.g. {{find: {{...}}, for: 1 min}} with settle inside"
        if self.load.for_ is None:
            yield "find has no `for`; expected the time for which the level found is measured, e.g. `for: 1 min`"

    @property
    def steered_by(self) -> Steered:
        """What is raised."""
        return self.find.raise_

    @property
    def looks(self) -> tuple[Check, ...]:
        """What must hold at a level."""
        return self.find.conditions

    @property
    def settle(self) -> int:
        """Time at each level before it is looked at."""
        return self.find.settle

    def to_native(self) -> Native:
        """The words of the load, with the level of the first trial and the highest; none is pressed as a whole."""
        return super().to_native() | steered(self.find.raise_, self.find.first, self.find.between[1])

    def at(self, level: float, length: int) -> Load:
        """Return the load of one level, measured for so long (ns)."""
        by = self.find.raise_
        update = {"find": None, "warm_up": self.settle, "for_": length, by: level if by == "rate" else int(level)}
        return self.load.model_copy(update=update)

    @property
    def _presses(self) -> tuple[tuple[int, Load], ...]:
        """The most that it may run: how often, and which load."""
        low, _ = self.find.between
        trial, measured = self.at(low, self.find.trial), self.at(low, self.load.for_ or 0)
        return (self.find.at_most, trial), (MOST_MEASURED, measured)

    @property
    def lasting(self) -> int:
        """All trials, and measuring the level found as often as may be."""
        return sum(number * (load.lasting or 0) for number, load in self._presses)

    @property
    def shortest(self) -> int:
        """It may be found at once."""
        return self.at(self.find.first, self.load.for_ or 0).lasting or 0

    def longest(self, patience: int) -> int:
        """Return the same as `lasting`, where one iteration of each may take `patience`."""
        return sum(number * load.longest(patience) for number, load in self._presses)
