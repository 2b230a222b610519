"""The interface of the shapes of loads, and the questions to the engine about them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pileup.model.check import Check
from pileup.model.units import format_count, format_time

if TYPE_CHECKING:
    from pileup._core import _native
    from pileup.model.loads.load import Load

Kind = Literal["once", "times", "closed", "open"]
Native = dict[str, object]
"""Input of the engine: keys of docs/engine.md."""
ALONE: Native = {
    "case": 0,
    "name": "",
    "target": 0,
    "place": 0,
    "shard": 0,
    "shards": 1,
    "seed": 0,
    "start": 0,
    "phase": None,
    "timeout": 0,
    "workers": 1,
    "errors_in_a_row": None,
    "operations": None,
}
"""The input of the engine besides the shape, for questions without a run: one place, no case."""
LONGEST = 2**63 - 1
"""Times are not longer for the engine, ns."""


@dataclass(frozen=True, slots=True)
class Shape(ABC):
    """The shape of a load, by its keys."""

    load: Load

    word: ClassVar[str]
    """The word of a load that gives it this shape."""
    element: ClassVar[str] = ""
    """Element for one part of the word's value in XML, where that is a list."""

    @classmethod
    def given(cls, load: Load) -> bool:
        """Whether the word of this shape is written in a load."""
        value = getattr(load, cls.word)
        return value is not None and value is not False

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """What it is for the engine."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The load in words: `closed, 100 clients for 10 s`."""

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with it beyond the schema, each with what is expected."""
        yield from ()

    def to_native(self) -> Native:
        """Return the words of the load as the engine takes them (docs/engine.md)."""
        load = self.load
        return {
            "kind": self.kind,
            "times": load.times,
            "clients": load.clients,
            "rate": None,
            "arrivals": load.arrivals,
            "pacing": load.pacing,
            "ramp": load.ramp,
            "warm_up": self.settle,
            "for": load.for_,
            "think": load.think.to_native() if load.think else None,
            "endless": load.endless,
        }

    @property
    def steered_by(self) -> Literal["rate", "clients"] | None:
        """What is steered by measurements: its rate, its clients, or nothing."""
        return None

    @property
    def looks(self) -> tuple[Check, ...]:
        """What it is steered by."""
        return ()

    @property
    def settle(self) -> int:
        """Time between the ramp and what is measured, ns."""
        return self.load.warm_up

    @property
    def ends(self) -> bool:
        """Whether something in it says when it ends, other than what is steered or stopped."""
        return self.load.for_ is not None or self.load.times is not None

    @property
    def levels(self) -> tuple[tuple[int, int, float], ...]:
        """Levels one after another: (begin, end, rate or clients), ns after the begin, without ramps; () for one."""
        return ()

    @property
    def engine(self) -> _native.Load:
        """What the engine makes of it."""
        from pileup._core import _native  # noqa: PLC0415  words can be read where it is not built

        return _native.Load(json.dumps(ALONE | self.to_native()))

    @property
    def lasting(self) -> int | None:
        """How long it presses by its own words (ns): ramps, warm-ups and what is measured; None where no time says."""
        return self.engine.end

    @property
    def shortest(self) -> int | None:
        """How long it presses at least by its own words, ns; None when its end depends on the system."""
        return self.lasting if self.load.times is None else None

    def longest(self, patience: int) -> int:
        """Return the longest possible time (ns), where one iteration may take `patience`."""
        patience = min(patience, LONGEST)
        pause = self.load.think.longest if self.load.think else 0
        found = self.engine.longest(patience, min(pause, LONGEST))
        return patience if found is None else found

    @property
    def end_words(self) -> str:
        """When it ends: ` 7 times for 1 min`."""
        times = "" if self.load.times is None else " " + number_words(self.load.times, "time")
        return times + ("" if self.load.for_ is None else f" for {format_time(self.load.for_)}")

    @property
    def most_words(self) -> str:
        """The most in flight of an open load: ` with at most 7 in flight`."""
        return f" with at most {self.load.clients} in flight" if self.load.clients else ""

    def others(self, *words: str, beside: tuple[str, ...] = ()) -> str:
        """Return which shapes but those of `beside`, and which of some words, are written beside it: `ramp, times`."""
        shapes = {shape.word for shape in self.load.written} - {self.word, *beside}
        return ", ".join(sorted(shapes | set(words) & self.load.model_fields_set))


def number_words(count: int, name: str) -> str:
    """Return e.g. `1 client`, `2,000 times`."""
    return f"{format_count(count)} {name}{'' if count == 1 else 's'}"
