"""What everything in a suite file has in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
Text = Annotated[str, StringConstraints(max_length=10_000)]


class Part(BaseModel):
    """Base of everything in a suite file: frozen, unknown words refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)
