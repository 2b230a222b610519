"""What everything in a suite file has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Base of everything in a suite file: frozen, unknown words refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
