"""What a suite says of a report that its runs write."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pileup.model.suite_part import Text


class ReportSpec(BaseModel):
    """A file that a run writes when it ends. Options of the report go beside these words."""

    model_config = ConfigDict(frozen=True, extra="allow")

    use: Text = Field(description="a name from `pileup list reports`, or ./file.py:Class")
    to: Text | None = Field(None, description="name of the file in the run folder; default: that of the plug-in")

    @property
    def options(self) -> dict[str, Any]:
        """Options of the plug-in as written."""
        return dict(self.model_extra or {})
