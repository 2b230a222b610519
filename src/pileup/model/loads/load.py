"""The words of a load: the schema of all shapes, and the list of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field, model_validator

from pileup.model.law import TimeLaw
from pileup.model.loads.clients import ClientsShape
from pileup.model.loads.every import EveryShape
from pileup.model.loads.find import Find, FindShape
from pileup.model.loads.hold import Hold, HoldShape
from pileup.model.loads.once import OnceShape
from pileup.model.loads.rate import RateShape
from pileup.model.loads.replay import ReplayShape, ReplayWord
from pileup.model.loads.shape import Kind, Native, Shape
from pileup.model.loads.stages import Stage, StagesShape
from pileup.model.loads.times import TimesShape
from pileup.model.quantities import Count, Duration, Rate
from pileup.model.suite_part import Part

SHAPES: tuple[type[Shape], ...] = (
    OnceShape,
    ReplayShape,
    FindShape,
    HoldShape,
    EveryShape,
    StagesShape,
    RateShape,
    ClientsShape,
    TimesShape,
)
"""All shapes; if the keys of several are given, the first in this list is the shape."""


class Load(Part):
    """The load on a test: one of once, times, clients, rate, every, stages, hold, find, replay."""

    once: bool | None = Field(None, description="one iteration; the default")
    times: Count | None = Field(
        None, ge=1, description="this many iterations in all, one after another unless `clients` is given"
    )
    clients: Count | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="this many clients, each begins again when its last iteration has ended (closed); "
        "with rate: the most in flight",
    )
    rate: Rate | None = Field(
        None, gt=0, description="iterations started per second, whatever the system answers (open)"
    )
    arrivals: Literal["constant", "poisson"] = Field("constant", description="how an open load spaces its iterations")
    every: Duration | None = Field(
        None, gt=0, description="interval between iterations, the first at once, whatever the system answers (open)"
    )
    stages: tuple[Stage, ...] | None = Field(
        None, min_length=1, description="levels one after another, all of one kind"
    )
    ramp: Duration = Field(
        0, description="ramp-up: time in which clients or rate rise to their level; left out of the figures"
    )
    warm_up: Duration = Field(
        0, description="warm-up: time at full load before the measurement; left out of the figures"
    )
    for_: Duration | None = Field(None, alias="for", gt=0, description="time measured, after ramp and warm_up")
    think: TimeLaw | None = Field(
        None, description="think time: pause of a client between its iterations (closed loads)"
    )
    pacing: Literal["coarse", "normal", "precise"] = Field(
        "normal",
        description="how exactly what is due begins: coarse, together once a millisecond, which costs the least CPU; "
        "normal; precise, awake from 50 us before, which takes a core at middle rates",
    )
    delay: TimeLaw | None = Field(None, description="pause before this load starts; drawn once per case")
    hold: Hold | None = Field(None, description="steer the load so that a measured quantity stays at a set point")
    find: Find | None = Field(None, description="look for the highest load that still meets a criterion")
    replay: ReplayWord | None = Field(
        None, description="replay the iterations of an earlier run at their intended starts; a path, or a mapping"
    )

    @property
    def written(self) -> tuple[type[Shape], ...]:
        """The shapes whose keys it has."""
        return tuple(shape for shape in SHAPES if shape.given(self))

    @property
    def shape(self) -> Shape:
        """Its shape."""
        return next(iter(self.written), OnceShape)(self)

    @property
    def kind(self) -> Kind:
        """Its kind in the engine and in run.json."""
        return self.shape.kind

    @property
    def open(self) -> bool:
        """Whether iterations begin when they are due, whatever the system answers."""
        return self.kind == "open"

    @property
    def sustained(self) -> bool:
        """Whether the load lasts for a time or has several clients, rather than being a single check."""
        return self.kind in ("closed", "open")

    @property
    def endless(self) -> bool:
        """Whether nothing in it says when it ends: allowed only for a test with `with`, which ends with others."""
        return self.sustained and not self.shape.ends

    @property
    def steered_by(self) -> Literal["rate", "clients"] | None:
        """What is steered by measurements: its rate, its clients, or nothing."""
        return self.shape.steered_by

    @property
    def before(self) -> int:
        """Time between the ramp and what is measured, ns: the warm-up, or the settling of a quantity that is held."""
        return self.shape.settle

    def to_native(self) -> Native:
        """Return its words as the engine takes them (docs/engine.md)."""
        return self.shape.to_native()

    @property
    def asked(self) -> float | None:
        """Iterations begun per second that an open load asks for, in the mean over what is measured."""
        return self.shape.engine.asked

    @property
    def most(self) -> int | None:
        """Most clients at any time; None where an open load does not say."""
        return self.shape.engine.most_clients

    @property
    def number(self) -> int | None:
        """Total number of iterations, if it is limited."""
        return self.shape.engine.number_here

    @property
    def iterations(self) -> int | None:
        """The largest number of iterations, None if only the system limits it."""
        return self.shape.engine.iterations

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """What is measured of several levels: (begin, end), ns after the begin of the first; pauses are left out."""
        return tuple(self.shape.engine.spans)

    @property
    def levels(self) -> tuple[tuple[int, int, float], ...]:
        """Levels one after another: (begin, end, rate or clients), ns after the begin, without ramps; () for one."""
        return self.shape.levels

    @property
    def lasting(self) -> int | None:
        """How long it presses by its own words (ns): ramps, warm-ups and what is measured; None where no time says."""
        return self.shape.lasting

    def longest(self, patience: int) -> int:
        """Return the longest possible time (ns), where one iteration may take `patience`."""
        return self.shape.longest(patience)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        wrong = next(self._problems(), None)
        if wrong is not None:
            raise ValueError(wrong)
        return self

    def _problems(self) -> Iterator[str]:
        """Yield what is wrong with the shapes that are written, then with the words that all have."""
        for shape in self.written:
            yield from shape(self).problems()
        if not self.sustained and self.for_ is not None:
            yield "`for` needs clients or rate; expected e.g. {clients: 1, for: 10 s}"
        if not self.sustained and (self.ramp or self.warm_up):
            yield "ramp and warm_up need clients or rate; expected e.g. {clients: 10, ramp: 5 s, for: 10 s}"
        if not self.sustained and "pacing" in self.model_fields_set:
            yield (
                "`pacing` needs starts that are due at a time; "
                "expected it with clients, rate, every, stages, hold, find or replay"
            )
        if self.open and self.think is not None:
            yield "an open load has no think time; expected think only with clients or times"
        if not self.open and "arrivals" in self.model_fields_set:
            yield "arrivals needs rate; expected e.g. {rate: 10 /s, arrivals: poisson, for: 1 min}"
