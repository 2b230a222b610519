"""What lies between clients and a target: the `path` of a target, kept by a relay (crates/pileup-relay)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, TypeAdapter, model_validator

from pileup.model.law import Law
from pileup.model.quantities import Bandwidth, Duration, Fraction, Size
from pileup.model.suite_part import Part, Text

LONGEST = 3600 * 10**9
SLOWEST = 1000
"""Bytes per second."""
NOT_SHOWN = (
    "a relay shows latency and bandwidth, not a network: each half is a TCP connection of its own, so neither the "
    "growth of a TCP window over the distance nor loss and retransmission are in these figures"
)
"""What must be known of every figure that was taken through a relay."""


class EachWay(Part):
    """Latency of each way by itself. Times in ns."""

    there: Duration = Field(le=LONGEST, description="from the client to the target")
    back: Duration = Field(le=LONGEST, description="from the target to the client")


_TIME: TypeAdapter[int] = TypeAdapter(Annotated[Duration, Field(le=LONGEST)])


def _both_ways(value: object) -> object:
    if not isinstance(value, (str, int, float)):
        return value
    time = _TIME.validate_python(value)
    return {"there": time - time // 2, "back": time // 2}


def _jitter(value: object) -> object:
    return {"uniform": ["0 s", value]} if isinstance(value, str) else value


Latency = Annotated[EachWay, BeforeValidator(_both_ways)]
Jitter = Annotated[Law, BeforeValidator(_jitter)]


class DistanceWords(Part):
    """What a relay does to what goes through it."""

    latency: Latency = Field(
        default_factory=lambda: EachWay(there=0, back=0),
        description="time added to every round trip, half of it each way; or {there: TIME, back: TIME}. A connect is "
        "charged with one round trip",
    )
    jitter: Jitter | None = Field(
        None,
        description="time drawn for each piece of data, each way, on top of the latency: a law such as {exponential: "
        "2 ms}; a plain time is {uniform: [0 s, TIME]}. Nothing overtakes",
    )
    bandwidth: Bandwidth | None = Field(
        None, ge=SLOWEST, description="each way, of all connections together, at least 1 kB/s; default: no limit"
    )
    window: Size = Field(
        64 << 20,
        gt=0,
        description="most bytes of a connection that are under way each way, as a TCP window bounds them",
    )
    resets: Fraction = Field(0.0, le=1, description="share of connections that are reset, drawn from the suite's seed")
    half_open: Fraction = Field(
        0.0, le=1, description="share of connections on which nothing passes any more while they stay open"
    )
    after: Size = Field(0, description="bytes of the answers that pass on such a connection before that")
    slow_close: Duration = Field(0, le=LONGEST, description="time by which the end of a connection is passed on later")

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if self.resets + self.half_open > 1:
            raise ValueError("`resets` and `half_open` are more than all connections; expected at most 100 % together")
        return self

    @property
    def round_trip(self) -> int:
        """What it adds to a round trip, without jitter, ns."""
        return self.latency.there + self.latency.back

    def to_native(self) -> dict[str, object]:
        """Return plain data for the relay, to be written as JSON."""
        words = ("bandwidth", "window", "resets", "half_open", "after", "slow_close")
        return {
            "latency": [self.latency.there, self.latency.back],
            "jitter": self.jitter.to_native() if self.jitter else None,
            **{word: getattr(self, word) for word in words},
        }


class Distance(DistanceWords):
    """What lies between clients and a target: a relay that pileup starts before it, on this machine.

    The url stays as it is: clients connect to the relay below TLS names, Host headers and signatures.
    """

    at: Text | None = Field(
        None, description="a relay that runs already, HOST:PORT (`pileup relay`), in the place of all other words"
    )
    by_place: tuple[DistanceWords, ...] = Field(
        (),
        description="words that differ from place to place: the first item is for place 1 of the fleet; after the last "
        "the list starts again. For tests that run from one place at a time",
    )

    @model_validator(mode="after")
    def _alone(self) -> Self:
        if self.at is not None and len(self.model_fields_set) > 1:
            raise ValueError("`at` beside other words; expected `at` alone: that relay has its own path")
        if self.at is not None and not _is_address(self.at):
            raise ValueError(f"{self.at!r} is no address of a relay; expected HOST:PORT")
        return self

    def at_place(self, place: int) -> Iterator[tuple[str, object]]:
        """Yield the words that differ by place with their values at a place of the fleet, numbered from 1."""
        own = self.by_place[(place - 1) % len(self.by_place)] if self.by_place else self
        for word in dict.fromkeys(word for each in self.by_place for word in sorted(each.model_fields_set)):
            yield word, getattr(own if word in own.model_fields_set else self, word)

    def with_words(self, words: Iterable[tuple[str, object]]) -> Distance:
        """Return it with some words changed. Raises pydantic.ValidationError when they do not go together."""
        given = {word: getattr(self, word) for word in self.model_fields_set}
        return Distance.model_validate(given | dict(words))


def _is_address(text: str) -> bool:
    host, colon, port = text.rpartition(":")
    return bool(host and colon) and port.isascii() and port.isdigit() and 0 < int(port) < 65536
