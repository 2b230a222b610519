"""What the storage tests have in common: a set of files of known names and content."""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator

from pileup.builtin.storage.layers import Layers, layered
from pileup.plugin import Content, Count, Fraction, Keys, Program, Size, Sizes, Step, Test, option
from pileup.plugin.units import format_size

FILE_NAME = "f"
DIGITS = 6
SIGMAS = 6
"""How far drawn sizes may add up to more than their mean."""
SMALL = 256 << 20
"""Bytes of a set that nobody takes for a test of disks: that it fits into memory goes without saying."""


def clean_path(path: str) -> str:
    """Return a path relative to the target without slashes at its ends. Raises ValueError when it leads outside."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in path:
        raise ValueError(f"{path!r} leads out of the target; expected a path below it without `..`")
    return "/".join(parts)


def folder_path(path: str) -> str:
    """Return a folder as an option says it: relative, or absolute with one slash at its begin. Raises ValueError."""
    return "/" * path.startswith("/") + clean_path(path)


FolderPath = Annotated[str, AfterValidator(folder_path)]


def place_of(folder: str, own: str) -> str:
    """Return where a folder is, relative to the url of the target: a relative one lies in the run's own folder."""
    return folder.strip("/") if folder.startswith("/") else f"{own}/{folder}".strip("/")


class FileSet(Test):
    """Base of the tests on files: the files of one set, `folder`/f000000, f000001, ...

    The content of a file depends only on the seed of the suite, the number of the file and its size, so one test can
    verify what another has written.
    """

    needs: ClassVar[str | Mapping[str, str]] = "files"

    folder: FolderPath = option(
        "pileup",
        help="folder of the files: inside the run's own folder below the url of the target, which is removed "
        "with the run; `/name` means exactly `name` below the url itself",
    )
    files: Count = option(1, ge=1, le=10**9, help="number of files in the set")
    order: Literal["sequential", "random", "client"] = option(
        "sequential",
        help="take the files in turn over all iterations, draw one each time (from the seed), or give each client its "
        "own, by its number",
    )
    batch: Count | None = option(
        None,
        ge=1,
        help="files per iteration, each within the timeout of the test; by default all files with `once`, one "
        "with any other load",
    )
    layers: Layers = option(
        "all",
        help="`all` of the operation, or only a part, to measure its cost: `control` opens and closes without "
        "bytes (an empty file is written), `data` moves the bytes of a file that stays open, `session` "
        "connects, logs in and disconnects, `noop` does nothing",
    )

    @abstractmethod
    def steps(self) -> tuple[Step, ...]:
        """Return what is done to each file."""

    def program(self) -> Program:
        """Return the steps for the files of one iteration, in the layers wanted."""
        steps, files = self.steps(), self.in_one_iteration()
        if len(steps) == 1:
            return layered(Program((replace(steps[0], repeat=files),)), self.layers)
        return layered(Program(steps, repeat=files), self.layers)

    def keys(self) -> Keys:
        """Return the names of the set."""
        return numbered(self.place, FILE_NAME, self.files, self.order)

    @property
    def place(self) -> str:
        """Where the folder is, relative to the url of the target."""
        return place_of(self.folder, self.context.own)

    def set_size(self) -> int:
        """Return how many files the set has."""
        return self.files

    def in_one_iteration(self) -> int:
        """Return how many files an iteration handles."""
        if self.batch is not None:
            return self.batch
        once = self.context.load is None or self.context.load.kind == "once"
        return self.set_size() if once else 1

    def bytes_of(self, files: int) -> int | None:
        """Return how many bytes at most are moved for so many files, one after another; None when not known."""
        return 0

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Return the operations, and the bytes where sizes are known."""
        files = iterations * self.in_one_iteration()
        each = len(layered(Program(self.steps()), self.layers).steps)
        return files * each, self.bytes_of(files) if self.layers in ("all", "data") else 0


class ContentSet(FileSet):
    """Base of the tests that move content."""

    size: Sizes = option(
        "1 MiB",
        help="size of each file, or sizes drawn from the seed: `{lognormal: [4 MiB, 1.5]}`, `{mix: [{size: 1 MiB, "
        "weight: 9}, {size: 1 GiB}]}`",
    )
    entropy: Fraction = option(
        1.0, le=1, help="how much of the content is random: 1 cannot be compressed, 0 is nearly all zeros"
    )
    buffer: Size | None = option(
        None,
        ge=1,
        le=1 << 30,
        help="bytes moved at a time: a call on a file system (default 1 MiB), "
        "a request when reading over a network (default: as the client does by itself)",
    )
    checksum: Literal["none", "adler32"] = option("none", help="checksum that goes with each file")

    def content(self) -> Content:
        """Return what the files hold."""
        return Content(self.context.seed, self.size.largest, self.size.shares, self.entropy)

    def bytes_of(self, files: int) -> int | None:
        """Every file is moved whole."""
        return self.bytes_in(files)

    def bytes_in(self, files: int) -> int:
        """Return the bytes of so many files of the set, taken in turn and from the begin again at its end.

        Exact for files of one size; for drawn sizes a bound that is practically never passed, mean + 6 sigma.
        """
        shares = self.size.shares
        if not shares or not files:
            return files * self.size.largest
        total = sum(weight for weight, _ in shares)
        mean = sum(weight * size for weight, size in shares) / total
        deviation = math.sqrt(sum(weight * (size - mean) ** 2 for weight, size in shares) / total)
        bound = files * (mean + SIGMAS * deviation / math.sqrt(min(files, self.files)))
        return min(math.ceil(bound), files * self.size.largest)

    def remarks(self) -> list[str]:
        """Warn when what is read is meant to test disks, and fits into the memory of this machine that they are at."""
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        whole = self.bytes_in(self.files)
        cached = self.reads() and SMALL <= whole < memory and self.layers in ("all", "data")
        if not (cached and self.context.sustained and _is_local(self)):
            return []
        return [
            f"the set of {format_size(whole)} fits into the memory of this machine ({format_size(memory)}): "
            "what is read may come from the page cache, not from the disk"
        ]

    def reads(self) -> bool:
        """Whether files are read that were there before."""
        return False


def numbered(
    folder: str, name: str, count: int, order: Literal["sequential", "random", "client"] = "sequential"
) -> Keys:
    """Return the names `folder`/`name`000000, ..."""
    return Keys(f"{folder}/{name}" if folder else name, count, DIGITS, order=order)


def apart(keys: Keys) -> Keys:
    """Return names of which each client takes a share of its own, in turn: none is in the hands of two."""
    return keys if keys.order == "client" else replace(keys, order="shared")


def make_folders(folder: str, own: str = "") -> Program | None:
    """Return steps that make a folder and those above it, up to the run's own; None for that and the target's own."""
    parts = folder.split("/") if folder else []
    levels = tuple("/".join(parts[: depth + 1]) for depth in range(len(parts)))
    levels = tuple(level for level in levels if not f"{own}/".startswith(f"{level}/"))
    if not levels:
        return None
    return Program((Step("mkdir", "mkdir", Keys(names=levels), repeat=len(levels), missing_ok=True),))


def removal(keys: Keys) -> Program:
    """Return the deleting of all these files, one by one; those that are not there are no matter."""
    keys = replace(keys, order="sequential")
    return Program((Step("delete", "delete", keys, repeat=len(keys.names) or keys.count, missing_ok=True),))


def _is_local(test: Test) -> bool:
    """Whether the target is on this machine, and uses its page cache; practice storage keeps all in memory anyway."""
    if str(getattr(test.target, "kind", "")).startswith("practice"):
        return False
    url, direct = getattr(test.target, "url", ""), getattr(test.target, "direct", False)
    host = urlsplit(url).hostname if "://" in url else "localhost"
    return bool(url) and not direct and (host in (None, "localhost", "::1") or str(host).startswith("127."))
