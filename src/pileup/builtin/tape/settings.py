"""Settings of the practice tape library with what it has in virtual time alone."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pileup.model.practice import TapeSettings
from pileup.plugin import Bandwidth, Fraction, Size


class MachineSettings(TapeSettings):
    """Settings of the practice tape library, of the stagers before it and, in virtual time, of their caches."""

    cache: Literal["none", "central", "node"] = Field(
        "none", description="where files from tape are kept: in one cache for all nodes, or in one of each node"
    )
    cache_size: Size = Field(10**12, gt=0, description="of the central cache, or of each node's; oldest use goes first")
    cache_speed: Bandwidth = Field(
        1_000_000_000, gt=0, description="of the link from the central cache to all nodes: one file after another"
    )
    warm: Fraction = Field(
        0.0, le=1, description="share of each cache that is full at the start, of files that will be asked for"
    )

    @property
    def of_machine(self) -> frozenset[str]:
        """Words that a server does not know, among those that are given."""
        return frozenset(type(self).model_fields.keys() - TapeSettings.model_fields.keys()) & self.model_fields_set
