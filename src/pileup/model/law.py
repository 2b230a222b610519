"""Distributions of random times: think times, delays, service times of practice targets."""

from __future__ import annotations

import random
from math import exp
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pileup.model.quantities import Duration


class Law(BaseModel):
    """A time, fixed or drawn: exactly one of the fields is set. `5 s` alone means `{fixed: 5 s}`.

    All times in nanoseconds. Draws below zero count as zero.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, title="time law")

    fixed: Duration | None = Field(None, description="always this time")
    uniform: tuple[Duration, Duration] | None = Field(None, description="[from, to], every time in between as likely")
    exponential: Duration | None = Field(None, description="mean of an exponential law")
    normal: tuple[Duration, Duration] | None = Field(None, description="[mean, standard deviation], cut at zero")
    lognormal: tuple[Duration, Annotated[float, Field(ge=0, le=10)]] | None = Field(
        None, description="[median, sigma]: the logarithm is normal with standard deviation sigma"
    )
    bimodal: tuple[Duration, Duration, Annotated[float, Field(ge=0, le=1)]] | None = Field(
        None, description="[fast, slow, share of slow]: one of two times, the second in this share of the draws"
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = sorted(self.model_fields_set)
        if len(given) != 1:
            raise ValueError(f"{len(given)} laws given {given}; expected one of {sorted(type(self).model_fields)}")
        if self.uniform is not None and self.uniform[0] > self.uniform[1]:
            raise ValueError("uniform goes from a larger to a smaller time; expected [from, to] with from <= to")
        return self

    @property
    def kind(self) -> str:
        """Name of the law that is set."""
        return next(iter(self.model_fields_set))

    @property
    def longest(self) -> int:
        """A time that a draw practically never exceeds (ns), for plans."""
        match self.kind:
            case "uniform":
                return self.uniform[1] if self.uniform else 0
            case "exponential":
                return 20 * (self.exponential or 0)
            case "normal":
                return self.normal[0] + 6 * self.normal[1] if self.normal else 0
            case "lognormal":
                return int(self.lognormal[0] * 2.718281828 ** (6 * self.lognormal[1])) if self.lognormal else 0
            case "bimodal":
                return max(self.bimodal[:2]) if self.bimodal else 0
            case _:
                return self.fixed or 0

    @property
    def mean(self) -> int:
        """The mean of the draws, ns; of the normal law as if it were not cut at zero."""
        given: Any = getattr(self, self.kind)
        match self.kind, given:
            case "uniform", (low, high):
                return int((low + high) / 2)
            case "lognormal", (median, sigma):
                return int(median * exp(sigma**2 / 2))
            case "bimodal", (fast, slow, share):
                return int(fast + (slow - fast) * share)
            case "normal", (mean, _):
                return int(mean)
            case _:
                return int(given)

    def draw(self, source: random.Random) -> int:
        """Return one time in ns, drawn from `source`."""
        given: Any = getattr(self, self.kind)
        match self.kind, given:
            case "uniform", (low, high):
                return source.randint(low, high)
            case "exponential", mean:
                return int(source.expovariate(1 / mean)) if mean else 0
            case "normal", (mean, deviation):
                return max(0, int(source.gauss(mean, deviation)))
            case "lognormal", (median, sigma):
                return int(median * source.lognormvariate(0, sigma))
            case "bimodal", (fast, slow, share):
                return int(slow if source.random() < share else fast)
            case _:
                return int(given)

    def to_native(self) -> dict[str, object]:
        """Return `{kind: value}` as the engine takes it, times in nanoseconds."""
        return {self.kind: getattr(self, self.kind)}


def _short_form(value: object) -> object:
    return {"fixed": value} if isinstance(value, (str, int)) else value


TimeLaw = Annotated[Law, BeforeValidator(_short_form)]
