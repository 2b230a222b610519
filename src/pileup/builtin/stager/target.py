"""Worker nodes with XRootD and frm_xfrd over one practice tape library, as a kind of target."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pileup.builtin.stager.settings import StagerSettings
from pileup.builtin.stager.site import Site, site_of
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import Failed, Launcher, TargetError
from pileup.plugin.tape import StagedFile, StagingTarget, Step, TapeTarget
from pileup.plugin.units import format_size

if TYPE_CHECKING:
    import asyncio

    from pileup.builtin.stager.recalls import Recalls
    from pileup.builtin.stager.requests import NodeRequests


class XrootdTapeTarget(TapeTarget, StagingTarget):
    """Worker nodes with a real stager each, XRootD with frm_xfrd, over one practice tape library.

    With `launch` pileup starts the library and the nodes on this machine and ends them after the run, for example
    `launch: {nodes: 8, max_transfers: 5, drives: 4, speed_up: 60}`; every setting can be an axis of a scan. A job opens
    its file at its node. XRootD leaves it to frm_xfrd, which runs a copy command as soon as fewer than `max_transfers`
    run; the command reads the file from the library, which mounts cartridges and winds tapes in scaled time. The files
    of a folder lie on one cartridge.

    Whole requests are made too, with kXR_prepare, and polled with a query (kXR_QPrep): by `storage.pretend` with
    `storage.follow`, `tape.storm` with `tape.poll`, and `tape.stage`. Their paths stand for files that nobody has asked
    for; `files` is at most 512. An XRootD answers requests by a plug-in of the site: here it hands them to frm_xfrd,
    and answers a query as EOS and CTA do. A release takes files off the disk.

    Its processes are `library`, `xrootd-0`, `frm-0`, `xrootd-1`, …: a fault is `{do: kill, target: tape.frm-0, for: 5
    s}`. A file whose node does not answer is asked for again each second. A request that is given up stays with
    frm_xfrd: XRootD has no way to revoke an open.
    """

    kind = "xrootd-tape"
    provides: ClassVar[frozenset[str]] = TapeTarget.provides | StagingTarget.provides
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

    @cached_property
    def _requests(self) -> NodeRequests:
        from pileup.builtin.stager.requests import NodeRequests  # noqa: PLC0415  who lists plug-ins needs none

        return NodeRequests(self.site)

    def stage(self, paths: Sequence[str], lifetime: int = 0, node: int = 0) -> str:
        """Ask a node for files, with kXR_prepare. There is no lifetime over root://: they stay until released."""
        return self._requests.stage(node, paths)

    def staged(self, request: str) -> list[StagedFile]:
        """Ask its node how far the files of a request are."""
        return self._requests.staged(request)

    def cancel(self, request: str, paths: Sequence[str]) -> None:
        """Cancel the whole request, since root:// has no less; frm_xfrd goes on with what it has taken."""
        self._requests.cancel(request)

    @property
    def opens(self) -> bool:
        """Files are opened over root://."""
        return True

    @property
    def closes(self) -> bool:
        """A file is closed as soon as it is open."""
        return False

    def open_files(self, request: str, paths: Sequence[str]) -> None:
        """Open and close files of a request that have come."""
        self._requests.touch(request, paths)

    def release(self, request: str, paths: Sequence[str]) -> None:
        """Take files of a request off the disk."""
        self._requests.release(request, paths)

    def forget(self, request: str) -> None:
        """Cancel a request."""
        self._requests.forget(request)

    def locality(self, paths: Sequence[str]) -> dict[str, str]:
        """Say whether files are on the disk of the first node."""
        return self._requests.locality(paths)
