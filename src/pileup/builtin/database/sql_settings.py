"""Settings of a database that SQL changes: an index that is there or not, a global variable."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pileup.builtin.database.sql_text import parse, split
from pileup.plugin import Part


def _statements(value: Any) -> Any:
    return tuple(split(value)) if isinstance(value, str) else value


Statements = Annotated[tuple[str, ...], BeforeValidator(_statements)]
"""SQL: one text with semicolons between statements, or a list."""


class SqlSetting(Part):
    """How a setting of the database is changed: for each of its values, the SQL that sets it."""

    set_: dict[str, Statements] = Field(
        alias="set", min_length=1, description="value: statements, e.g. {on: CREATE INDEX …, off: DROP INDEX …}"
    )
    get: str | None = Field(None, description="query whose first column is the current value, to be restored")
    default: str | None = Field(None, description="value to restore, if no query can return it")
    restore: Literal["always", "never"] = Field(
        "always", description="whether the previous value is restored at the end"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for value, statements in self.set_.items():
            if not statements:
                raise ValueError(f"{value!r} has no statement; expected SQL that sets it")
        if self.get is not None:
            parse(self.get)
        if self.default is not None and self.default not in self.set_:
            raise ValueError(f"`default` is {self.default!r}; expected one of {', '.join(self.set_)}")
        if self.restore == "always" and self.get is None and self.default is None:
            raise ValueError(
                "nothing gives the value to restore; expected `get: QUERY`, `default: VALUE`, or `restore: never`"
            )
        return self
