"""A criterion as a suite has it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from pileup.model.quantities import Count
from pileup.model.suite_part import Name, Part, Text

Confidence = Literal["estimate", "shown"]


class CriterionSpec(Part):
    """A requirement on the system, and how it is checked."""

    id: Name = Field(description="short name, e.g. C1")
    says: Text = Field(description="the requirement in words")
    check: Text | None = Field(
        None, description="FUNCTION(SELECTOR) COMPARISON VALUE [UNIT]; may be left out with coverage: none"
    )
    coverage: Literal["full", "partial", "none", "far"] = Field(
        "full",
        description="how much of the sentence the check covers; far: full where a `path` adds to the round trips of "
        "its test, else partial",
    )
    remark: Text | None = Field(
        None, description="what the check leaves out, or why there is none; shown with the result in reports"
    )
    at: tuple[dict[str, str], ...] = Field(
        (), description="points of the scan at which it must hold, e.g. [{se.threads: 4}]; default: at every point"
    )
    during: tuple[Name, ...] = Field(
        (),
        description="tests: what a monitor samples counts in their measured time alone, e.g. [submit]; default: from "
        "the first measured time of any test to the last",
    )
    at_least: Count | None = Field(
        None,
        ge=1,
        description="fewest values (iterations, operations, samples) that the figure must be of, at each point; with "
        "fewer the verdict is unknown",
    )
    confidence: Confidence | None = Field(
        None,
        description="estimate: the figure decides; shown: its whole interval must be on the right side, else the "
        "verdict counts as unknown (exit 8); default: what the suite says",
    )

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if self.check is None and self.coverage != "none":
            raise ValueError(f"no check but coverage {self.coverage}; expected a check, or coverage: none")
        return self
