"""List a folder."""

from __future__ import annotations

from pileup.builtin.tests.storage import RelativePath
from pileup.plugin import Count, Expect, Keys, Program, Step, Test, option


class StorageList(Test):
    """List a folder and count what is in it.

    On POSIX this reads the directory, over WebDAV it is PROPFIND with depth 1, over root:// kXR_dirlist.
    """

    name = "storage.list"
    needs = "files"

    folder: RelativePath = option("pileup", help="folder to list, relative to the url of the target")
    entries: Count | None = option(None, help="fail unless exactly so many files and folders are in it")

    def program(self) -> Program:
        """Return the one listing."""
        return Program((Step("list", "list", Keys.fixed(self.folder), expect=Expect(entries=self.entries)),))

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """One operation each; a listing moves no files."""
        return iterations, 0
