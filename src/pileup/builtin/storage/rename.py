"""Rename files."""

from __future__ import annotations

from dataclasses import replace

from pileup.builtin.storage.files import FileSet, apart, removal
from pileup.plugin import Keys, Program, Step

SUFFIX = ".renamed"


class StorageRename(FileSet):
    """Rename the files of a set to f000000.renamed and back.

    A test of the same run (`storage.write`) must have written the set. Each direction is an operation `rename`, both
    are an iteration. The names are then as before, so the load can last for any time. Each client uses its own share of
    the files in turn. That needs at least as many files as clients.
    """

    name = "storage.rename"

    def keys(self) -> Keys:
        """Return the names of the set; none is taken by two clients."""
        return apart(super().keys())

    def steps(self) -> tuple[Step, ...]:
        """Return the way there and back."""
        keys = self.keys()
        there = Step("rename", "rename", keys, to=SUFFIX)
        return there, Step("rename", "rename", replace(keys, suffix=SUFFIX))

    def cleanup(self) -> Program | None:
        """Remove what an iteration that was broken off has left under the other name."""
        return removal(replace(self.keys(), suffix=SUFFIX))
