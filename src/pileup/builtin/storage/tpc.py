"""Third-party copies: one storage sends files to another, or fetches them from it, past this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

from pileup.builtin.storage.files import FILE_NAME, ContentSet, numbered
from pileup.builtin.storage.names import NamedSet
from pileup.plugin import CHECKSUM, Destination, Keys, Step, option
from pileup.plugin.units import counted


class StorageTpc(ContentSet, NamedSet):
    """Copy files from one storage to another, past this machine, as FTS does.

    Over https and http (kinds `webdav` and `practice-storage`, protocol HTTP-TPC) one of the two storages makes the
    copy: with `mode: pull` the destination fetches the file, with `mode: push` the source sends it. Over root:// (with
    `client: xrdcp`) the destination fetches it, by `xrdcp --tpc only`. In a suite: `{name: tpc, use: storage.tpc,
    target: {source: here, destination: there}, after: [fill]}`.

    Files are those that `storage.write` has written to the source with the same `folder`, `files`, `size` and
    `entropy`, or others by `names`. Copies go into the run's own folder on the destination, and are removed with it.
    The operations are `copy`, and `checksum`, which asks the destination for the checksum of the copy: it must be that
    of the known content, else that which the source states.

    The active storage reports while it copies (performance markers). Bytes count when a marker reports them, and each
    time between two markers is an operation `marker` with its bytes. A copy has passed when the storage says so at the
    end of its report: `failure:` fails it, whatever the status of the answer. It is ambiguous when the report breaks
    off, or when no answer comes within the `timeout` of the test: it may have been made. Bytes of a copy without
    markers count at its end.
    """

    name = "storage.tpc"
    needs: ClassVar[str | Mapping[str, str]] = {"source": "tpc", "destination": "tpc"}

    mode: Literal["pull", "push"] = option(
        "pull", help="`pull`: the destination fetches files; `push`: the source sends them"
    )
    streams: int | None = option(
        None, ge=1, le=64, help="TCP streams of a copy (X-Number-Of-Streams, xrdcp --streams); default: as storages do"
    )
    overwrite: bool = option(
        True, help="whether a copy may replace one that this run has made before under the same name"
    )
    checksum: Literal["none", "adler32", "if stated"] = option(  # type: ignore[assignment]  # one word more
        "adler32",
        help="which checksum to ask for after each copy; `if stated`: Adler-32, and a storage without checksums passes",
    )

    def check(self) -> None:
        """Refuse copies that are sure to disturb one another, or to be refused."""
        load, files = self.context.load, self.set_size()
        clients = (load.clients if load is not None else None) or 1
        if clients > files:
            raise ValueError(
                f"{clients} clients copy {counted(files, 'file')}, some the same at once; expected `files: {clients}` "
                "or more"
            )
        again = self.context.sustained if load is None or load.times is None else load.times > files
        if again and not self.overwrite:
            raise ValueError(
                f"a load that goes on copies {counted(files, 'file')} again; expected `overwrite: true`, or `once`"
            )

    def steps(self) -> tuple[Step, ...]:
        """Return the copy, and the question for the checksum of what has arrived."""
        keys, content = self.keys(), None if self.named else self.content()
        there = Destination("destination", self._there(), pull=self.mode == "pull", streams=self.streams)
        copy = Step("copy", "copy", keys, content=content, new=not self.overwrite, destination=there)
        if self.checksum == "none":
            return (copy,)
        return copy, replace(copy, operation=CHECKSUM, verb="checksum", new=False, checksum=self.checksum)

    def _there(self) -> Keys:
        """Return the names of the copies."""
        own = self.context.owns.get("destination", "")
        return numbered(own, f"{self.context.name}-{FILE_NAME}", self.set_size(), self.order)

    def bytes_of(self, files: int) -> int | None:
        """Every file is moved whole."""
        return None if self.named else self.bytes_in(files)

    def reads(self) -> bool:
        """Whether files are read that were there before."""
        return not self.named
