"""Sizes of files: one for all, or drawn for each from a law or a list with weights."""

from __future__ import annotations

from math import exp
from statistics import NormalDist
from typing import Annotated, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pileup.model.quantities import Count, Size

STEPS = 200
"""Sizes that stand for a law: its quantiles in the middle of equal shares."""
BLOCK = 4096
"""Sizes drawn from a law are multiples of this, as direct i/o wants them, unless they are smaller."""


class Share(BaseModel):
    """One size of a mix, and how often it comes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: Size = Field(description="size of a file")
    weight: Count = Field(1, ge=1, le=10**6, description="weight against the others")


class SizeLaw(BaseModel):
    """Sizes of a set: exactly one of the fields is set. `64 MiB` alone means `{fixed: 64 MiB}`. All in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, title="sizes")

    TYPE_WORDS: ClassVar[str] = "size, e.g. 64 MiB, or mapping of uniform, lognormal, mix"

    fixed: Size | None = Field(None, description="all of this size")
    uniform: tuple[Size, Size] | None = Field(None, description="[from, to], every size in between as likely")
    lognormal: tuple[Size, Annotated[float, Field(ge=0, le=4)]] | None = Field(
        None, description="[median, sigma]: the logarithm is normal with standard deviation sigma"
    )
    mix: Annotated[tuple[Share, ...], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="[{size: 1 MiB, weight: 9}, {size: 1 GiB}]: one of these, in proportion to the weights"
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = sorted(self.model_fields_set)
        if len(given) != 1:
            raise ValueError(
                f"{len(given)} kinds of sizes given {given}; expected one of {sorted(SizeLaw.model_fields)}"
            )
        if self.uniform is not None and self.uniform[0] > self.uniform[1]:
            raise ValueError("uniform goes from a larger to a smaller size; expected [from, to] with from <= to")
        return self

    @property
    def shares(self) -> tuple[tuple[int, int], ...]:
        """(weight, bytes) of each size there is; empty when all are alike."""
        middles = [(step + 0.5) / STEPS for step in range(STEPS)]
        if self.mix is not None:
            return tuple((share.weight, share.size) for share in self.mix)
        if self.uniform is not None:
            low, high = self.uniform
            return tuple((1, _whole(low + (high - low) * middle)) for middle in middles)
        if self.lognormal is not None:
            median, sigma = self.lognormal
            normal = NormalDist()
            return tuple((1, _whole(median * exp(sigma * normal.inv_cdf(middle)))) for middle in middles)
        return ()

    @property
    def largest(self) -> int:
        """Bytes of the largest files."""
        return max((size for _, size in self.shares), default=self.fixed or 0)

    @property
    def smallest(self) -> int:
        """Bytes of the smallest files."""
        return min((size for _, size in self.shares), default=self.fixed or 0)


def _whole(size: float) -> int:
    return round(size / BLOCK) * BLOCK if size >= BLOCK else round(size)


def _short_form(value: object) -> object:
    return {"fixed": value} if isinstance(value, (str, int)) else value


Sizes = Annotated[SizeLaw, BeforeValidator(_short_form)]
