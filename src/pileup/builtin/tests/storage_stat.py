"""Ask for the attributes of files."""

from __future__ import annotations

from pileup.builtin.tests.storage import NamedSet
from pileup.plugin import Program, Step


class StorageStat(NamedSet):
    """Ask for the attributes of files without reading them.

    Fails for a file that is not there. On POSIX this is `stat`, over WebDAV a HEAD request. Runs in the native engine.
    """

    name = "storage.stat"

    def program(self) -> Program:
        """Return the asking for the files of one iteration."""
        return Program((Step("stat", "stat", self.keys(), repeat=self.in_one_iteration()),))
