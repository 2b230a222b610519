"""The practice tape library as a kind of target."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pileup.builtin.tape.settings import TapeSettings
from pileup.plugin import Launcher, Target, TargetError, VirtualTime
from pileup.plugin.tape import TapeTarget


class PracticeTapeTarget(Target):
    """Tape library of known truth, with the stagers of worker nodes before it: `pileup simulate` alone.

    Files lie on cartridges; a robot brings them to drives, which wind to a file and read it. Each worker node has a
    stager that hands the library at most `max_transfers` requests at a time, and keeps the others in the order of
    coming. Settings are words of `launch`, for example `launch: {drives: 10, nodes: 40, max_transfers: 5}`, and may be
    varied in a scan. Drives go down, cartridges cannot be read, and requests get lost as the settings say.
    """

    kind = "practice-tape"
    provides: ClassVar[frozenset[str]] = TapeTarget.provides
    launch_settings = TapeSettings

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return None: there is no server of it. Raises ValueError for a setting that is unknown or out of bounds."""
        TapeSettings.model_validate(settings)
        return None

    def simulated(self, settings: Mapping[str, object], time: VirtualTime) -> Target:
        """Return the library as a machine in virtual time. Raises ValueError for a wrong setting."""
        from pileup.builtin.tape.machine import SimulatedTape  # noqa: PLC0415  it imports asyncio

        return SimulatedTape(TapeSettings.model_validate(settings), time)

    def probe(self) -> str:
        """Say that it is there in virtual time alone. Raises TargetError."""
        told = "a practice tape library is there in virtual time alone"
        raise TargetError(told, "a simulation", "pileup simulate SUITE")
