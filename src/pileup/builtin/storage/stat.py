"""Ask for the attributes of files."""

from __future__ import annotations

from pileup.builtin.storage.names import NamedSet
from pileup.plugin import Content, Sizes, Step, option


class StorageStat(NamedSet):
    """Ask for the attributes of files without reading them.

    Fails for a file that is not there, or is of another size than `size`. On POSIX this is `stat`, over WebDAV a HEAD
    request, over root:// kXR_stat.
    """

    name = "storage.stat"

    size: Sizes | None = option(None, help="fail for files of another size; as `storage.write` takes it")

    def steps(self) -> tuple[Step, ...]:
        """Return the asking for a file."""
        known = self.size
        content = None if known is None else Content(self.context.seed, known.largest, known.shares)
        return (Step("stat", "stat", self.keys(), content=content),)
