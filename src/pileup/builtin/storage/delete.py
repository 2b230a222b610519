"""Delete files."""

from __future__ import annotations

from pileup.builtin.storage.files import FileSet
from pileup.plugin import Step, option


class StorageDelete(FileSet):
    """Delete the files of a set, `folder`/f000000, f000001, ..., each once, and nothing else.

    The files are used up: with a load with `for` they run out, and every further iteration fails. Use `times: N` (and
    `clients` for several at once), N at most `files`. The folder stays.
    """

    name = "storage.delete"

    missing_ok: bool = option(False, help="whether deleting a file that is not there passes; else it fails")

    def check(self) -> None:
        """Refuse to draw files at random, which would take some twice."""
        if self.order != "sequential" and not self.missing_ok:
            raise ValueError(
                f"order {self.order} would delete some files twice; expected sequential, or `missing_ok: true`"
            )

    def steps(self) -> tuple[Step, ...]:
        """Return the deleting of a file."""
        return (Step("delete", "delete", self.keys(), missing_ok=self.missing_ok),)
