"""Create files in one folder against many."""

from __future__ import annotations

from dataclasses import replace

from pileup.builtin.storage.files import ContentSet, apart, make_folders, removal
from pileup.plugin import Count, Keys, Program, Sizes, Step, option


class StorageContend(ContentSet):
    """Create and remove files in one folder, or spread over many, to measure contention for the lock of a folder.

    File n is in folder n modulo `folders`: with one folder all clients share it, and with as many folders as clients
    they hardly ever do. Scan over `folders` to see what a shared folder costs. The operations are `create` and
    `delete`, an iteration is both. It leaves nothing behind, so the load can last for any time. Each client uses its
    own share of the names in turn, so no two clients act on the same file, however long an operation takes. That needs
    at least as many names (`files`) as clients.
    """

    name = "storage.contend"

    files: Count = option(1000, ge=1, le=10**9, help="number of names, reused from the first when all are used")
    folders: Count = option(1, ge=1, le=100_000, help="folders that the files are spread over")
    size: Sizes = option("0 B", help="size of each file, as `storage.write` takes it")

    def keys(self) -> Keys:
        """Return the names of the files, each in its folder; none is taken by two clients."""
        return apart(replace(super().keys(), folders=self.folders))

    def steps(self) -> tuple[Step, ...]:
        """Return the creating and the removing of a file."""
        keys = self.keys()
        create = Step("create", "write", keys, content=self.content(), buffer=self.buffer)
        return create, Step("delete", "delete", keys)

    def prepare(self) -> Program | None:
        """Make the folders and those above them."""
        above = make_folders(self.place, self.context.own)
        below = Step("mkdir", "mkdir", self._inner(), repeat=self.folders, missing_ok=True)
        return Program((*(above.steps if above else ()), below))

    def cleanup(self) -> Program | None:
        """Remove what an iteration that failed has left, and the inner folders."""
        inner = removal(replace(self._inner(), suffix="/"))
        return Program((*removal(self.keys()).steps, *inner.steps))

    def _inner(self) -> Keys:
        prefix = f"{self.place}/d" if self.place else "d"
        return Keys(prefix, self.folders, 6)
