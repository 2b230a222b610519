"""A study that is repeated until its figures are precise."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from pileup.model import check as checks
from pileup.model.check import Check
from pileup.model.loads.hold import Written
from pileup.model.quantities import Count, Fraction
from pileup.model.suite_part import Part

LEAST_WITHIN, MOST_WITHIN = 0.0001, 1.0


class Until(Part):
    """Repeat the points only until a figure is precise at each of them; `repeat` is then the most."""

    figure: Written = Field(
        description="a figure of a test as in checks, e.g. p50(copy.response) or rate(copy.bytes), taken in each repeat"
    )
    within: Fraction = Field(
        description="precise means: half of the 95 % confidence interval of its mean over the repeats is at most "
        "this share of it, in two repeats in a row"
    )
    at_least: Count = Field(5, ge=2, le=10_000, description="repeats of each point before that is checked")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not LEAST_WITHIN <= self.within <= MOST_WITHIN:
            raise ValueError(f"within is {self.within:.4g}; expected a share between 0.01 % and 100 %, like 2 %")
        return self

    @property
    def check(self) -> Check:
        """The figure as a check that is never judged. Raises ValueError for what cannot be read."""
        return checks.parse(f"{self.figure} >= 0")
