"""Make folders."""

from __future__ import annotations

from dataclasses import replace

from pileup.builtin.storage.files import FileSet, apart, make_folders, numbered, removal
from pileup.plugin import Count, Keys, Program, Step, option


class StorageMkdir(FileSet):
    """Make folders, `folder`/d000000, d000001, ..., and remove them again.

    The operations are `mkdir` and `delete`, an iteration is both. It leaves nothing behind, so the load can last for
    any time. Each client uses its own share of the names in turn, so no two clients act on the same folder. That needs
    at least as many names (`files`) as clients.
    """

    name = "storage.mkdir"

    files: Count = option(1000, ge=1, le=10**9, help="number of names, reused from the first when all are used")

    def keys(self) -> Keys:
        """Return the names of the folders; none is taken by two clients."""
        return apart(numbered(self.place, "d", self.files, self.order))

    def steps(self) -> tuple[Step, ...]:
        """Return the making and the removing of a folder; a slash says that it is one."""
        keys = replace(self.keys(), suffix="/")
        return Step("mkdir", "mkdir", keys), Step("delete", "delete", keys)

    def prepare(self) -> Program | None:
        """Make the folder and those above it."""
        return make_folders(self.place, self.context.own)

    def cleanup(self) -> Program | None:
        """Remove what an iteration that failed has left."""
        return removal(replace(self.keys(), suffix="/"))
