"""Charts as plug-ins: their inputs and results. `drawing` has parts to draw with.

A chart takes finished results and returns groups of drawings for a section of the HTML report. A drawing is a Vega-Lite
specification, best made with altair and `pileup.plugin.charts.drawing`, and the tables that it draws.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pileup.model.results import RunResults

Columns = dict[str, Sequence[Any]]
"""A table as column name -> values, all of one length: numbers with None where there is none, or text."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The time axis of the page: `begin` in ns since the epoch, `window` in ms."""

    begin: int
    window: float

    def ms(self, nanoseconds: float) -> float:
        """Return a time of the record as ms since the run's start."""
        return float(f"{(nanoseconds - self.begin) / 1e6:.1f}")


@dataclass(frozen=True, slots=True)
class Mark:
    """One entry of a legend; `color` is a CSS colour of the page.

    `kind` is line, dash, dotted, dashdot (as `drawing.STYLES` has them), area, tick or dot.
    """

    text: str
    color: str
    kind: str = "line"


@dataclass(frozen=True, slots=True)
class Drawing:
    """One picture."""

    id: str
    """Unique on the page: letters, digits, _ and -."""
    title: str
    unit: str
    spec: dict[str, Any]
    """Vega-Lite specification from `drawing.timed` or `drawing.finish`; it refers to its tables by name."""
    table: str
    """Name of the table that is shown as numbers below it."""
    legend: tuple[Mark, ...] = ()
    about: str = ""
    """One sentence on how to read it."""
    timed: bool = True
    """Whether its x axis is the time of the run."""
    columns: dict[str, str] = field(default_factory=dict)
    """Columns of that table to show: name -> heading."""
    says: str = ""
    """A description in a sentence or two, as caption and for screen readers; empty: made from the table."""


@dataclass(frozen=True, slots=True)
class Group:
    """Drawings that belong together, with the tables that they draw.

    Every page has the tables `cases`, `phases` and, where something happened, `events`; `drawing.timed` draws them.
    """

    drawings: Sequence[Drawing] = ()
    tables: Mapping[str, Columns] = field(default_factory=dict)
    heading: str = ""
    """Heading above; in the section `points` the test, in `monitors` the monitor and its host."""
    notes: Sequence[str] = ()
    """Sentences below."""
    paired: bool = False
    """Whether two drawings may be side by side."""
    small: bool = False
    section: str = ""
    """Section of the page, if not that of the chart."""


class Chart:
    """Base of all charts. The docstring is the chart's page."""

    _framework: ClassVar[bool] = True
    name: ClassVar[str] = ""
    """Name under which it is registered."""
    section: ClassVar[str] = "load"
    """Part of the page: points, load, times, monitors, self (pileup itself, folded); any other text is the heading of a
    section behind these."""
    place: ClassVar[int] = 100
    """Where it is in its section: after those with a smaller number."""

    @abstractmethod
    def draw(self, results: RunResults, axis: Clock) -> Iterable[Group]:
        """Return groups of drawings; none if the results have no figures for them.

        `axis` converts times of the record (ns since the epoch) to those of the page (ms since the run's start).
        """
