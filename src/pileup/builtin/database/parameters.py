"""Values for the parameters of statements, drawn again for every iteration."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Number = int | float


def _typed(value: object) -> object:
    """Return the number that a text of a suite is: those of files are all texts."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            number = kind(value)
        except ValueError:
            continue
        return number if str(number) == value else value
    return value


Bound = Annotated[Number, BeforeValidator(_typed)]
Given = Annotated[Number | str, BeforeValidator(_typed)]


@dataclass(frozen=True, slots=True)
class DrawContext:
    """For what values are drawn: the random source of an iteration, its number, what is this client's alone."""

    source: random.Random
    number: int
    """Of the iteration, over all clients of the case."""
    token: str
    """Letters and digits that no other client has, in this run or any other."""


class Values(BaseModel):
    """The values of one parameter: exactly one of the words. `5` alone means `{fixed: 5}`.

    Drawn from the seed of the suite, the name of the test and the number of the iteration: the same at every point.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, title="values")

    fixed: Given | None = Field(None, description="always this")
    uniform: tuple[Bound, Bound] | None = Field(
        None, description="[from, to]: whole numbers, both ends too; with a decimal point in one any number in between"
    )
    normal: tuple[float, Annotated[float, Field(ge=0)]] | None = Field(None, description="[mean, standard deviation]")
    choice: tuple[Given, ...] | None = Field(None, min_length=1, description="one of these, each as likely")
    sequence: int | None = Field(None, description="this number, then the next, over all clients: no two are alike")
    unique: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="a text that no other iteration of this or any run has; begins with this"
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = sorted(self.model_fields_set)
        if len(given) != 1:
            raise ValueError(f"{len(given)} ways to draw {given}; expected one of {sorted(type(self).model_fields)}")
        if self.uniform is not None and self.uniform[0] > self.uniform[1]:
            raise ValueError("uniform goes from a larger to a smaller number; expected [from, to] with from <= to")
        return self

    def draw(self, moment: DrawContext) -> Number | str:
        """Return one value."""
        (kind,) = self.model_fields_set
        given: Any = getattr(self, kind)
        value: Number | str = given
        match kind, given:
            case "uniform", (int(low), int(high)):
                value = moment.source.randint(low, high)
            case "uniform", (low, high):
                value = moment.source.uniform(low, high)
            case "normal", (mean, deviation):
                value = moment.source.gauss(mean, deviation)
            case "choice", (*values,):
                value = moment.source.choice(values)
            case "sequence", first:
                value = first + moment.number
            case "unique", prefix:
                value = f"{prefix}{moment.token}-{moment.number}"
        return value


def _short_form(value: object) -> object:
    return value if isinstance(value, (dict, Values)) else {"fixed": value}


Parameter = Annotated[Values, BeforeValidator(_short_form)]
