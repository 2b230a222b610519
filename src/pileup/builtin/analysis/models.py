"""Models of events: what their columns are, and values drawn from a seed for each cluster of each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float32, int32
    from numpy.random import Generator
    from numpy.typing import NDArray

MANTISSA = 0xFFFFF800
"""Bits of a float that are kept: 12 of its mantissa, so that compression is that of measured values."""


@dataclass(frozen=True, slots=True)
class Member:
    """A value of each element of a collection: normal with mean 0, or exponential."""

    name: str
    scale: float
    exponential: bool = False

    @property
    def middle(self) -> float:
        """A value that about half of all exceed; columns are checked by how many do."""
        return self.scale / 2 if self.exponential else 0.0

    def draw(self, random: Generator, number: int) -> NDArray[float32]:
        """Return values, float32."""
        import numpy  # noqa: PLC0415  `pileup list` loads every plug-in

        draw = random.standard_exponential if self.exponential else random.standard_normal
        values = draw(number, dtype=numpy.float32) * numpy.float32(self.scale)
        return (values.view(numpy.uint32) & numpy.uint32(MANTISSA)).view(numpy.float32)


@dataclass(frozen=True, slots=True)
class Collection:
    """A list of elements in each event; their number is Poisson distributed."""

    name: str
    mean: float
    members: tuple[Member, ...]

    @property
    def counter(self) -> str:
        """The column that says how many there are."""
        return f"n{self.name}"


@dataclass(frozen=True, slots=True)
class Spec:
    """A histogram of a column. Widths are powers of two, or the edges lie between integers: no value is on an edge."""

    name: str
    column: str
    bins: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Values:
    """Events in memory: for each collection, how many elements each event has, and the values of all of them."""

    counts: dict[str, NDArray[int32]]
    members: dict[str, NDArray[float32]]
    """By the name of the column; flat."""


@dataclass(frozen=True)
class Model:
    """What events are like."""

    name: str
    collections: tuple[Collection, ...]
    optimised: tuple[str, ...]
    """The columns of the query `procopt`, about 20 % of an event."""
    specs: tuple[Spec, ...]

    @cached_property
    def columns(self) -> dict[str, float]:
        """All columns and the value that about half of theirs exceed."""
        return dict(self._columns())

    def _columns(self) -> Iterator[tuple[str, float]]:
        for each in self.collections:
            yield each.counter, each.mean
            for member in each.members:
                yield f"{each.name}_{member.name}", member.middle

    def collection_of(self, column: str) -> Collection:
        """Return the collection that a column is of."""
        return next(each for each in self.collections if column in {each.counter} or column.startswith(f"{each.name}_"))

    def draw(self, seed: Sequence[int], events: int) -> Values:
        """Return events; `seed` is that of the data set, the number of the file, the number of the cluster."""
        import numpy  # noqa: PLC0415

        random = numpy.random.default_rng(list(seed))
        counts: dict[str, NDArray[int32]] = {}
        members: dict[str, NDArray[float32]] = {}
        for each in self.collections:
            counts[each.name] = random.poisson(each.mean, events).astype(numpy.int32)
            total = int(counts[each.name].sum())
            members |= {f"{each.name}_{member.name}": member.draw(random, total) for member in each.members}
        return Values(counts, members)


_TRACK = (
    *(Member(name, 2.0) for name in ("px", "py", "pz")),
    Member("mass2", 1.0, exponential=True),
    *(Member(name, 1.0) for name in ("vertex_x", "vertex_y", "vertex_z", "first_x", "first_y", "first_z")),
    *(Member(name, 1.0) for name in ("last_x", "last_y", "last_z", "bend", "charge")),
    *(Member(name, 4.0, exponential=True) for name in ("mass", "chi2", "hits", "length", "energy_loss")),
)
EVENT = Model(
    "event",
    (Collection("Track", 600, _TRACK),),
    ("nTrack", "Track_px", "Track_py", "Track_pz", "Track_mass2"),
    (
        Spec("tracks", "nTrack", 400, 399.5, 799.5),
        Spec("px", "Track_px", 128, -8, 8),
        Spec("py", "Track_py", 128, -8, 8),
        Spec("pz", "Track_pz", 128, -8, 8),
        Spec("mass2", "Track_mass2", 128, 0, 8),
    ),
)
_WIDE = tuple(
    Collection(f"C{number:02}", 6, tuple(Member(f"m{each:02}", 2.0, each % 5 == 0) for each in range(50)))
    for number in range(60)
)
WIDE = Model(
    "wide",
    _WIDE,
    tuple(column for each in _WIDE[::5] for column in (each.counter, *(f"{each.name}_{m.name}" for m in each.members))),
    (Spec("elements", "nC00", 32, -0.5, 31.5), Spec("m01", "C00_m01", 128, -8, 8)),
)
MODELS = {model.name: model for model in (EVENT, WIDE)}
