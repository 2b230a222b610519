"""Read files and verify their content."""

from __future__ import annotations

from pileup.builtin.tests.storage import ContentSet, NamedSet
from pileup.plugin import Program, Size, Step, option


class StorageRead(ContentSet, NamedSet):
    """Read files, whole or in part, and verify every byte.

    Reads what `storage.write` has written with the same `folder`, `files` and `size` in a suite with the same seed;
    the first wrong byte, a wrong size or a missing file fails the operation. Files that pileup has not written are
    read with `names` and `verify: false`. Verifying costs CPU of this machine (about 1 ms for 10 MB); switch it off
    where that is the limit. Bytes counted are those received.
    """

    name = "storage.read"

    verify: bool = option(True, help="compare what is read with what was written")
    offset: Size = option(0, help="read from this byte of each file on")
    length: Size | None = option(None, gt=0, help="read so many bytes from `offset` on; when left out, up to the end")
    scatter: bool = option(
        False,
        help="read `length` bytes at a place drawn anew each time, a multiple of `length` behind `offset`, as "
        "databases do; a file is kept open then from one read to the next",
    )

    def check(self) -> None:
        """Refuse to verify unknown files or bytes behind the end, and to scatter reads of no length."""
        if self.scatter and (self.length is None or self.offset + self.length > self.size):
            raise ValueError(
                f"scattered reads need a `length` within the `size` of the files, {self.size} bytes; expected one that "
                "fits behind `offset`"
            )
        if self.names and self.verify:
            raise ValueError("the content of files given by `names` is not known; expected `verify: false` beside it")
        end = self.offset + (self.length or 0)
        if self.verify and end > self.size:
            raise ValueError(
                f"reading up to byte {end} of files of {self.size} bytes; expected offset + length <= size"
            )

    def program(self) -> Program:
        """Return the reading of the files of one iteration."""
        step = Step(
            "read",
            "read",
            self.keys(),
            repeat=self.in_one_iteration(),
            content=self.content() if self.verify else None,
            offset=self.offset,
            length=self.length,
            span=self.size if self.scatter else None,
            buffer=self.buffer,
            verify=self.verify,
            checksum=self.checksum,
        )
        return Program((step,))

    def bytes_per_file(self) -> int | None:
        """Return the part that is read."""
        if self.length is not None:
            return self.length
        return self.size - self.offset if self.verify else None
