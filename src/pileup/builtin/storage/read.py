"""Read files and verify their content."""

from __future__ import annotations

from typing import Literal

from pileup.builtin.storage.files import ContentSet
from pileup.builtin.storage.names import NamedSet
from pileup.plugin import Count, Fraction, Size, Step, option


class StorageRead(ContentSet, NamedSet):
    """Read files, whole or in part, and verify every byte.

    Reads what `storage.write` has written with the same `folder`, `files`, `size` and `entropy` in a suite with the
    same seed; the first wrong byte, a wrong size or a missing file fails the operation. Use `names` and `verify: false`
    to read files that pileup has not written. Verifying costs CPU of this machine (about 1 ms for 10 MB); switch it off
    if that is the bottleneck. Bytes counted are those received.

    `access` says how: `sequential` reads from `offset` on; `random` reads one piece of `length` bytes at a random
    offset, as databases do; `vector` reads `pieces` pieces in one request, as ROOT's TTreeCache does; `sparse` reads a
    `fraction` of the file in pieces from its begin to its end, as an analysis of few branches does, with `pieces` of
    them per request. Pieces ascend and never overlap. All except `sequential` keep the file open from one read to the
    next.
    """

    name = "storage.read"

    verify: bool = option(True, help="compare what is read with what was written")
    access: Literal["sequential", "random", "vector", "sparse"] = option("sequential", help="see above")
    offset: Size = option(0, help="read from this byte of each file on")
    length: Size | None = option(
        None,
        gt=0,
        help="sequential: bytes to read from `offset` on, by default up to the end; else the size of a piece",
    )
    pieces: Count | None = option(
        None, ge=1, le=65536, help="pieces per request; by default 16 for a vector read, 1 for a sparse one"
    )
    fraction: Fraction = option(0.02, gt=0, le=1, help="share of each file that a sparse read reads")
    read_ahead: Size | None = option(
        None,
        le=1 << 30,
        help="read-ahead: bytes requested before a sequential read needs them, 0: none; default: as the "
        "client or the system does it; not over HTTP",
    )

    def check(self) -> None:
        """Refuse to verify unknown files or bytes behind the end, and pieces of no length."""
        if self.access != "sequential":
            self._check_pieces()
        if self.named and self.verify:
            raise ValueError("the content of files given by `names` is not known; expected `verify: false` beside it")
        end = self.offset + (self.length or 0)
        if self.verify and end > self.size.smallest:
            raise ValueError(
                f"reading up to byte {end} of files of {self.size.smallest} bytes; expected offset + length <= size"
            )

    def _check_pieces(self) -> None:
        count = (self.pieces or 16) if self.access == "vector" else 1
        if self.length is None or self.offset + self.length * count > self.size.smallest:
            raise ValueError(
                f"{self.access} reads need a `length` of which {count} fit into the `size` of the files, "
                f"{self.size.smallest} bytes; expected one that fits behind `offset`"
            )
        if self.read_ahead:
            raise ValueError(f"`read_ahead` of {self.access} reads; expected it with `access: sequential`")

    def steps(self) -> tuple[Step, ...]:
        """Return the reading of a file."""
        scattered = self.access != "sequential"
        return (
            Step(
                "read",
                "read",
                self.keys(),
                content=self.content() if self.verify else None,
                offset=self.offset,
                length=self.length,
                span=(self.size.largest if self.verify else self.size.smallest) if scattered else None,
                pieces={"vector": self.pieces or 16, "sparse": self.pieces or 0}.get(self.access, 0),
                fraction=self.fraction if self.access == "sparse" else None,
                read_ahead=self.read_ahead,
                keep=scattered,
                buffer=self.buffer,
                verify=self.verify,
                checksum=self.checksum,
            ),
        )

    def bytes_of(self, files: int) -> int | None:
        """Return the part that is read."""
        if self.access == "sparse":
            part = self.size.largest - self.offset
            return files * (round(part * self.fraction) + (self.length or 0))
        if self.length is not None:
            return files * self.length * ((self.pieces or 16) if self.access == "vector" else 1)
        return self.bytes_in(files) - files * self.offset if self.verify else None

    def reads(self) -> bool:
        """Files are read that were there before."""
        return not self.named
