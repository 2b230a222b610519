"""Ask for the attributes of files."""

from __future__ import annotations

from pileup.builtin.tests.storage import NamedSet
from pileup.plugin import Content, Program, Size, Step, option


class StorageStat(NamedSet):
    """Ask for the attributes of files without reading them.

    Fails for a file that is not there, or is of another size than `size`. On POSIX this is `stat`, over WebDAV a HEAD
    request.
    """

    name = "storage.stat"

    size: Size | None = option(None, help="fail for files of another size")

    def program(self) -> Program:
        """Return the asking for the files of one iteration."""
        content = Content(self.context.seed, self.size) if self.size is not None else None
        return Program((Step("stat", "stat", self.keys(), repeat=self.in_one_iteration(), content=content),))
