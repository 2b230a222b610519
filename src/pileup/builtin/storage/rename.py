"""Rename files."""

from __future__ import annotations

from dataclasses import replace

from pileup.builtin.storage.files import FileSet, apart, removal
from pileup.plugin import Keys, Program, Step

SUFFIX = ".renamed"


class StorageRename(FileSet):
    """Give the files of a set another name, f000000.renamed, and their own again.

    The set must have been written by a test of the same run (`storage.write`). Both ways are an operation `rename`,
    and together an iteration; it ends as it began, so that it can be pressed for any time. Each client takes files of a
    share of its own in turn. Needs as many files as clients: two at one file disturb one another.
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
