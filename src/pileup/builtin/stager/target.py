"""Worker nodes with XRootD and frm_xfrd over one practice tape library, as a kind of target."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.builtin.stager.settings import StagerSettings
from pileup.builtin.stager.site import Site, site_of
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import Failed, Launcher, TargetError
from pileup.plugin.tape import Step, TapeTarget
from pileup.plugin.units import format_size

if TYPE_CHECKING:
    import asyncio

    from pileup.builtin.stager.recalls import Recalls


class XrootdTapeTarget(TapeTarget):
    """Worker nodes with a real stager each, XRootD with frm_xfrd, over one practice tape library.

    With `launch` pileup starts the library and the nodes on this machine and ends them after the run, for example
    `launch: {nodes: 8, max_transfers: 5, drives: 4, speed_up: 60}`; every setting can be an axis of a scan. A job opens
    its file at its node. XRootD leaves it to frm_xfrd, which runs a copy command as soon as fewer than `max_transfers`
    run; the command reads the file from the library, which mounts cartridges and winds tapes in scaled time. The files
    of a folder lie on one cartridge.

    Its processes are `library`, `xrootd-0`, `frm-0`, `xrootd-1`, …: a fault is `{do: kill, target: tape.frm-0, for: 5
    s}`. A file whose node does not answer is asked for again each second. A request that is given up stays with
    frm_xfrd: XRootD has no way to revoke an open.
    """

    kind = "xrootd-tape"
    launch_settings = StagerSettings

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start library and nodes. Raises ValueError for a setting that is unknown or out of bounds."""
        from pileup.builtin.stager.launcher import stager_launcher  # noqa: PLC0415  who lists plug-ins needs none

        wanted = StagerSettings.model_validate(settings)
        return stager_launcher(wanted, wanted.for_library(settings.items()))

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse all urls: the log of the copy commands is known only of nodes that pileup has launched."""
        raise TargetError(
            f"{url} has a stager that pileup did not launch", "`launch`", "`launch: {}` in place of the url"
        )

    @cached_property
    def site(self) -> Site:
        """What is known of the nodes and the library. Raises TargetError."""
        return site_of(self.url)

    @property
    def nodes(self) -> int:
        """Worker nodes, each with a stager of its own."""
        return len(self.site.nodes)

    def probe(self) -> str:
        """Ask the first and the last node for their version. Raises TargetError."""
        nodes = self.site.nodes
        found = [XrootdTarget(f"root://{node}/{self.site.folder}/").probe() for node in {nodes[0], nodes[-1]}]
        return f"{found[0]} with frm_xfrd, nodes: {self.nodes}"

    def recall(self, node: int, path: str, size: int) -> AsyncIterator[Step]:
        """Ask the stager of a node for a file; the files of a folder lie on one cartridge."""
        if size != self.site.size:
            told = (
                f"a file of {format_size(size)} was asked for, those in the library have {format_size(self.site.size)}"
            )
            raise Failed(f"{told}; expected the same `size` in the options of the test and under `launch`")
        return self._recalls().recall(node, path)

    def _recalls(self) -> Recalls:
        """Return what is under way in this event loop."""
        import asyncio  # noqa: PLC0415  the list of plug-ins does without it

        from pileup.builtin.stager.recalls import Recalls  # noqa: PLC0415  the same

        loop = asyncio.get_running_loop()
        known: dict[asyncio.AbstractEventLoop, Recalls] = self.__dict__.setdefault("_known", {})
        for ended in [each for each in known if each.is_closed()]:
            del known[ended]
        if loop not in known:
            known[loop] = Recalls(self.site)
        return known[loop]
