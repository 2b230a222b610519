"""List a folder."""

from __future__ import annotations

from pileup.builtin.storage.files import FolderPath, place_of
from pileup.plugin import Count, Expect, Keys, Program, Step, Test, option


class StorageList(Test):
    """List a folder and count what is in it.

    On POSIX this reads the directory, over WebDAV it is PROPFIND with depth 1, over root:// kXR_dirlist.
    """

    name = "storage.list"
    needs = "files"

    folder: FolderPath = option(
        "pileup",
        help="folder to list, inside the run's own folder below the url of the target; `/name` is `name` below "
        "the url itself, `/` the url",
    )
    entries: Count | None = option(None, help="fail unless exactly so many files and folders are in it")

    def program(self) -> Program:
        """Return the one listing."""
        return Program(
            (
                Step(
                    "list",
                    "list",
                    Keys.fixed(place_of(self.folder, self.context.own)),
                    expect=Expect(entries=self.entries),
                ),
            )
        )

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """One operation each; a listing moves no files."""
        return iterations, 0
