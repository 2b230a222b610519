"""Copy whole files to the storage or from it."""

from __future__ import annotations

from typing import Literal

from pileup.builtin.storage.files import ContentSet, make_folders, removal
from pileup.builtin.storage.names import NamedSet
from pileup.plugin import CHECKSUM, Program, Size, Step, option
from pileup.plugin.units import counted


class StorageCopy(ContentSet, NamedSet):
    """Copy whole files between the storage and memory here, as `xrdcp`, `gfal-copy` or `curl` do, and verify each.

    `direction: out` reads files from the storage (those that `storage.write` has written with the same `folder`,
    `files`, `size` and `entropy`, or others by `names`); `direction: in` writes them. Then the test asks the storage
    for the checksum of the file, which must be that of the transferred bytes; on POSIX the file is read again for that.
    The operations are `copy`, with the bytes and times of the data, and `checksum`; an iteration is both. Nothing is
    written to a disk here, so the clients' disk is never the bottleneck.

    Plain WebDAV servers (Apache, nginx, rclone) give no checksums, and the test fails. With `checksum: if stated` it
    passes: a missing checksum is an operation `checksum-not-stated`, and operations `checksum` were verified. Copies in
    to the same name at the same time disturb each other: use as many files as clients, and `order: client`.
    """

    name = "storage.copy"

    direction: Literal["in", "out"] = option("out", help="`in` to the storage, or `out` of it")
    checksum: Literal["none", "adler32", "if stated"] = option(  # type: ignore[assignment]  # one word more
        "adler32",
        help="which checksum to ask for after each copy; `if stated`: Adler-32, and a storage without checksums passes",
    )
    verify: bool = option(True, help="when copying out, compare every byte with what was written")
    read_ahead: Size | None = option(
        None, le=1 << 30, help="when copying out, bytes requested before they are needed; see `storage.read`"
    )

    def check(self) -> None:
        """Refuse to verify unknown files, to overwrite them, and copies in that are sure to disturb one another."""
        if self.direction == "in" and self.named:
            raise ValueError("copies in would overwrite the files given by `names`; expected `direction: out`")
        if self.named and self.verify:
            raise ValueError("the content of files given by `names` is not known; expected `verify: false` beside it")
        load = self.context.load
        clients = (load.clients if load is not None else None) or 1
        if self.direction == "in" and clients > self.files:
            raise ValueError(
                f"{clients} clients copy {counted(self.files, 'file')} in, some the same at once; "
                f"expected `files: {clients}` or more"
            )

    def steps(self) -> tuple[Step, ...]:
        """Return the copy, and the question for the checksum."""
        keys, content = self.keys(), None if self.named else self.content()
        if self.direction == "in":
            copy = Step("copy", "write", keys, content=content, buffer=self.buffer)
        else:
            known = content if self.verify else None
            ahead = self.read_ahead
            copy = Step("copy", "read", keys, content=known, buffer=self.buffer, verify=self.verify, read_ahead=ahead)
        if self.checksum == "none":
            return (copy,)
        return copy, Step(CHECKSUM, "checksum", keys, content=copy.content, checksum=self.checksum)

    def prepare(self) -> Program | None:
        """Make the folder and those above it, for copies in."""
        return make_folders(self.place, self.context.own) if self.direction == "in" else None

    def cleanup(self) -> Program | None:
        """Remove what was copied in."""
        return removal(self.keys()) if self.direction == "in" else None

    def bytes_of(self, files: int) -> int | None:
        """Every file is moved whole."""
        return None if self.named else self.bytes_in(files)

    def reads(self) -> bool:
        """Whether files are read that were there before."""
        return self.direction == "out" and not self.named
