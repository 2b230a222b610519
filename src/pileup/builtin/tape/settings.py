"""Settings of the practice tape library."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import Field, TypeAdapter, model_validator

from pileup.plugin import Bandwidth, Count, Duration, Fraction, Part, Size, TimeLaw
from pileup.plugin.units import counted

LAW: TypeAdapter[TimeLaw] = TypeAdapter(TimeLaw)


class DriveDown(Part):
    """A time in which a drive is down."""

    drive: int = Field(ge=0, description="number of the drive, from 0")
    at: Duration = Field(description="when it goes down, after the library began")
    for_: Duration = Field(alias="for", gt=0, description="how long; its request waits again, before all others")


class TapeSettings(Part):
    """Settings of the practice tape library and of the stagers before it.

    A file is read by a drive that has its cartridge: the robot brings the one before back (`dismount`), mounts the
    other one (`mount`), the drive winds to the file (`seek`) and reads it at its `speed`.
    """

    nodes: Count = Field(1, ge=1, le=100_000, description="worker nodes, each with a stager of its own")
    max_transfers: Count = Field(
        0, description="requests that a stager hands to the library at a time; others wait in it; 0: no limit"
    )
    drives: Count = Field(4, ge=1, le=10_000, description="drives")
    cartridges: Count = Field(100, ge=1, le=1_000_000, description="cartridges; the files of a folder lie on one")
    arms: Count = Field(1, ge=1, le=1000, description="arms of the robot: cartridges that are moved at a time")
    order: Literal["fifo", "cartridge"] = Field(
        "cartridge",
        description="which request a drive takes next: the oldest one, or first all for the cartridge that is in it",
    )
    mount: TimeLaw = Field(LAW.validate_python("60 s"), description="to bring a cartridge and make it ready")
    dismount: TimeLaw = Field(LAW.validate_python("30 s"), description="to bring the one before back")
    seek: TimeLaw = Field(
        LAW.validate_python({"uniform": ["0 s", "90 s"]}), description="to wind to the beginning of a file"
    )
    speed: Bandwidth = Field(100_000_000, gt=0, description="of a drive")
    unreadable: tuple[Count, ...] = Field((), description="numbers of cartridges that cannot be read, from 0")
    lost: Fraction = Field(0.0, le=1, description="share of the requests that the library forgets")
    silent: tuple[Count, ...] = Field((), description="numbers of requests, from 0, that are kept and never served")
    down: tuple[DriveDown, ...] = Field((), description="when drives are down")
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
    seed: int = Field(1, ge=0, lt=2**63, description="seed of everything random")

    @model_validator(mode="after")
    def _there(self) -> TapeSettings:
        for word, most, given in (
            ("drive", self.drives, [each.drive for each in self.down]),
            ("cartridge", self.cartridges, self.unreadable),
        ):
            if wrong := [number for number in given if number >= most]:
                raise ValueError(f"{word} {wrong[0]} of {counted(most, word)}; expected a number from 0 to {most - 1}")
        return self

    def rules(self, seed: int) -> str:
        """Return what the library takes (crates/pileup-tape): times in ns, bytes per second."""
        words = ("drives", "cartridges", "arms", "order", "speed", "unreadable", "lost", "silent")
        plain = {word: getattr(self, word) for word in words}
        laws = {word: getattr(self, word).to_native() for word in ("mount", "dismount", "seek")}
        down = [{"drive": each.drive, "from": each.at, "lasts": each.for_} for each in self.down]
        return json.dumps({**plain, **laws, "down": down, "seed": seed})
