"""Write files of known content."""

from __future__ import annotations

from pileup.builtin.storage.files import ContentSet, make_folders, removal
from pileup.plugin import Program, Step
from pileup.plugin.units import counted

MOST = 1 << 50
"""Bytes of a set."""


class StorageWrite(ContentSet):
    """Write files of known content, `folder`/f000000, f000001, ...

    With `once` an iteration writes the whole set; with any other load it writes one file, and files that were written
    before are written again in turn. The folder is made first, outside the measurement. Use this test to make data for
    other tests: sizes from a distribution or a mix, as compressible as `entropy` says.

    A relative `folder` is inside the run's own folder, which is removed with its content. In an absolute one nothing is
    overwritten: if a file of these names exists, the set-up fails, and clean-up removes only what this run has written.
    A set that is kept there (`cleanup: never`) is reused: with `once` or `times` nothing is written if it is complete
    and the same. Bytes counted are those of the files.
    """

    name = "storage.write"

    def check(self) -> None:
        """Refuse a set that no storage here could hold: a slip of the unit."""
        super().check()
        if self.files * self.size.largest > MOST:
            raise ValueError(f"{counted(self.files, 'file')} of {self.size.largest} B; expected at most 1 PiB in all")

    def steps(self) -> tuple[Step, ...]:
        """Return the writing of a file."""
        content = self.content()
        return (Step("write", "write", self.keys(), content=content, buffer=self.buffer, checksum=self.checksum),)

    def prepare(self) -> Program | None:
        """Make the folder and those above it."""
        return make_folders(self.place, self.context.own)

    def cleanup(self) -> Program | None:
        """Remove the files of the set, one by one; those never written are no matter."""
        return removal(self.keys())
