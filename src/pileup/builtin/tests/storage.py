"""What the storage tests have in common: a set of files of known names and content."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator

from pileup.plugin import Content, Count, Keys, Program, Size, Step, Test, option

FILE_NAME = "f"
DIGITS = 6


def clean_path(path: str) -> str:
    """Return a path relative to the target without slashes at its ends. Raises ValueError when it leads outside."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in path:
        raise ValueError(f"{path!r} leads out of the target; expected a path below it without `..`")
    return "/".join(parts)


RelativePath = Annotated[str, AfterValidator(clean_path)]


class FileSet(Test):
    """Base of the tests on files: the files of one set, `folder`/f000000, f000001, ...

    The content of a file follows from the seed of the suite, the number of the file and its size alone, so that one
    test reads and verifies what another has written.
    """

    needs = "files"

    folder: RelativePath = option("pileup", help="folder of the set, relative to the url of the target")
    files: Count = option(1, ge=1, le=10**9, help="number of files in the set")
    order: Literal["sequential", "random"] = option(
        "sequential", help="take the files in turn over all iterations, or draw one each time (from the seed)"
    )
    batch: Count | None = option(
        None,
        ge=1,
        help="files handled in one iteration, each within the timeout of the test; when left out, all of the set under "
        "`once`, one under any other load",
    )

    def keys(self) -> Keys:
        """Return the names of the set."""
        prefix = f"{self.folder}/{FILE_NAME}" if self.folder else FILE_NAME
        return Keys(prefix, self.files, DIGITS, order=self.order)

    def set_size(self) -> int:
        """Return how many files the set has."""
        return self.files

    def in_one_iteration(self) -> int:
        """Return how many files an iteration handles."""
        if self.batch is not None:
            return self.batch
        once = self.context.load is None or self.context.load.kind == "once"
        return self.set_size() if once else 1

    def bytes_per_file(self) -> int | None:
        """Return how many bytes at most are moved for one file; None when that is not known."""
        return 0

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Return files handled, and bytes where the size is known."""
        operations, each = iterations * self.in_one_iteration(), self.bytes_per_file()
        return operations, None if each is None else operations * each


class ContentSet(FileSet):
    """Base of the tests that move content."""

    size: Size = option(1 << 20, help="size of each file")
    buffer: Size | None = option(
        None,
        ge=1,
        le=1 << 30,
        help="bytes moved at a time: a call on a file system (default 1 MiB), "
        "a range request when reading over HTTP (default: the whole in one request)",
    )
    checksum: Literal["none", "adler32"] = option("none", help="checksum that goes with each file")

    def content(self) -> Content:
        """Return what the files hold."""
        return Content(self.context.seed, self.size)


def make_folders(folder: str) -> Program | None:
    """Return steps that make a folder and those above it; None for the target's own."""
    parts = folder.split("/") if folder else []
    levels = tuple("/".join(parts[: depth + 1]) for depth in range(len(parts)))
    if not levels:
        return None
    return Program((Step("mkdir", "mkdir", Keys(names=levels), repeat=len(levels), missing_ok=True),))


class NamedSet(FileSet):
    """Base of the tests that also take files which pileup has not written."""

    names: list[str] = option([], help="names in `folder` of files to take in the place of the set")

    def keys(self) -> Keys:
        """Return the files of the set, or those named."""
        if not self.names:
            return super().keys()
        return Keys(names=tuple(clean_path(f"{self.folder}/{name}") for name in self.names), order=self.order)

    def set_size(self) -> int:
        """Return how many files are in the set, or named."""
        return len(self.names) or self.files
