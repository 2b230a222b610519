"""The practice tape library as a kind of target."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pileup.builtin.tape.rest import TapeRestTarget
from pileup.builtin.tape.settings import MachineSettings
from pileup.model.practice import SETTINGS, TapeSettings
from pileup.plugin import Launcher, Target, VirtualTime

READY = r"^pileup practice tape ready at (?P<url>\S+)$"


class PracticeTapeTarget(TapeRestTarget):
    """Tape library of known truth, with the stagers of worker nodes before it: real, in scaled or in virtual time.

    Files lie on cartridges; a robot brings them to drives, which wind to a file and read it. Each worker node has a
    stager that hands the library at most `max_transfers` requests at a time, and keeps the others in the order of
    coming. Drives go down, cartridges cannot be read, and requests get lost as the settings say.

    With `launch` pileup starts one on this machine and ends it after the run, for example `launch: {drives: 10, nodes:
    40, max_transfers: 5, speed_up: 60}`; its settings are those of `pileup practice tape`, and may be varied in a scan.
    In the folder of the target below the run, `tape.csv` says what happened to each file, and `practice-tape.csv` what
    was done to each request (`-2.csv` after a restart); a file has eight lines or so, which `events: /dev/null` does
    without. It serves the WLCG Tape REST API, so that with a url it is a
    target of kind `tape-rest`, but one that is asked for its own times, to the nanosecond.

    `pileup simulate` moves the same library by virtual time. There any path is on tape, and the files of one folder lie
    on one cartridge; settings of the server (`host`, `speed_up`, `files`, `keep`, `log`, …) have no effect. `cache`
    and what belongs to it are there only.
    """

    kind = "practice-tape"
    launch_settings = MachineSettings
    _more = "times=true"

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start one; None with caches. Raises ValueError for an unknown or impossible setting."""
        if MachineSettings.model_validate(settings).of_machine:
            return None  # a server has no caches
        wanted = TapeSettings.model_validate(settings)
        port = wanted.port or "{port}"  # the same one again after a restart
        told = {SETTINGS: json.dumps(settings)}  # as written: quantities keep their units
        command = (sys.executable, "-m", "pileup", "practice", "tape", "--port", str(port))
        events = () if wanted.events else ("--events", "{folder}/tape{again}.csv")
        logs = (*events, "--log", "{folder}/practice-tape{again}.csv")
        return Launcher.one((*command, *logs), READY, environment=told)

    def simulated(self, settings: Mapping[str, object], time: VirtualTime) -> Target:
        """Return the library as a machine in virtual time. Raises ValueError for a wrong setting."""
        from pileup.builtin.tape.machine import SimulatedTape  # noqa: PLC0415  it imports asyncio

        wanted = MachineSettings.model_validate(settings)
        if wanted.faults:
            raise ValueError("faults of the server; expected none: in virtual time nothing is sent to it")
        return SimulatedTape(wanted, time)
