"""Reads and writes plain files in folders that others may write to, without following links.

A run folder may come from anybody. What is read of it is a regular file of a bounded size, what is written is a new
file that takes the place of an old name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pileup.model.errors import NotARun
from pileup.model.units import format_size

LARGEST_JSON = 256 << 20
"""Bytes of a file of JSON that is read as one."""
LARGEST_LINES = 4 << 30
"""Bytes of a file of JSON lines."""
DENSE = 1 << 30
"""Files up to this size, bytes, may be all holes: they are read quickly."""
HOLES = 64
"""A larger file of which the disk holds less than this fraction (1/n) is not a record: reading it would take days."""
DEEPEST = 4
"""Folders in folders in a record: output, of a case; pieces of a conversion."""
MOST = 2_000_000
"""Files in a record, at most."""
SERVERS = "servers"
"""What launched servers keep: their own, with links and sockets; nothing reads it as a part of the record."""
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def check(folder: Path) -> None:
    """Raise NotARun when something in a run folder is not a plain file or folder, or cannot be read to its end."""
    left = MOST
    waiting = [(folder, 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(path) as found:
                entries = list(found)
        except OSError as problem:
            raise NotARun(f"{path} cannot be read: {problem.strerror}", "a run folder that you may read") from problem
        left -= len(entries)
        for entry in entries:
            if told := _wrong(entry, depth, left):
                name = Path(entry.path).relative_to(folder)
                raise NotARun(f"{folder}: {name} {told}", "plain files and folders in a run folder", "do not trust it")
            if entry.is_dir(follow_symlinks=False) and (depth or entry.name != SERVERS):
                waiting.append((Path(entry.path), depth + 1))


def _wrong(entry: os.DirEntry[str], depth: int, left: int) -> str:
    """Return what is wrong with an entry of a folder, empty when nothing is."""
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as problem:
        return "" if isinstance(problem, FileNotFoundError) else f"cannot be looked at: {problem.strerror}"
    if left < 0:
        return f"is one of more than {MOST} files"
    if stat.S_ISDIR(found.st_mode):
        return "is too deep in it" if depth >= DEEPEST else ""
    return _wrong_file(found)


def _wrong_file(found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link"
    if not stat.S_ISREG(found.st_mode):
        return "is not a file: a pipe, a socket or a device"
    if found.st_size > DENSE and found.st_blocks * 512 < found.st_size // HOLES:
        return f"seems to have {format_size(found.st_size)}, and the disk holds next to nothing of it"
    return ""


def read(path: Path, most: int = LARGEST_JSON) -> bytes:
    """Return the bytes of a plain file. Raises OSError; ValueError when it has more than `most`."""
    with os.fdopen(opened(path), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it has more than {format_size(most)}")
    return data


def opened(path: Path) -> int:
    """Open a plain file to be read; return its descriptor. Raises OSError, also for a link, a pipe or a device."""
    descriptor = os.open(path, _READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(22, "it is not a plain file", str(path))
    return descriptor


def append_to(path: Path, mode: int = 0o644) -> int:
    """Open a plain file to be appended to, made when it is not there; return its descriptor. Raises OSError."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(22, "it is not a plain file", str(path))
    return descriptor


def new(path: Path) -> int:
    """Make a new file, replacing an existing one; return its descriptor. Raises OSError."""
    path.unlink(missing_ok=True)
    return os.open(path, _NEW, 0o644)


def replace(path: Path, data: bytes, part: Path | None = None) -> None:
    """Put a file in the place of another at once, on the disk with its name before this returns. Raises OSError."""
    part = part or path.with_name(f".{path.name}.part")
    with os.fdopen(new(part), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync(path.parent)


def sync(folder: Path) -> None:
    """Have the names in a folder on the disk: a file that is synced can lose its name in a crash. Raises OSError."""
    descriptor = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def folder_beneath(base: Path, names: tuple[str, ...], make: bool = True) -> Iterator[int]:
    """Give the descriptor of a folder beneath another, reached name by name without links; made where `make`.

    Raises OSError, also when a link or something else has one of the names.
    """
    descriptor = os.open(base, _FOLDER)
    try:
        for name in names:
            if name == "..":
                raise OSError(22, "it leads out of its folder", str(base.joinpath(*names)))
            if make:
                _make(name, descriptor)
            following = os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = following
        yield descriptor
    finally:
        os.close(descriptor)


def _make(name: str, folder: int) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return


def put(folder: int, name: str, data: bytes, mode: int, owner: int = -1) -> None:
    """Write a file of a folder's descriptor again, with mode and owner (-1: ours). Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    descriptor = os.open(name, _NEW, 0o600, dir_fd=folder)  # before it holds anything: it may be a key
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        os.fchmod(descriptor, mode)
        os.fchown(descriptor, owner, -1)


def put_folder(folder: int, name: str, mode: int, owner: int = -1) -> None:
    """Make a folder in a folder's descriptor if it is not there, with mode and owner (-1: ours). Raises OSError."""
    _make(name, folder)
    descriptor = os.open(name, _FOLDER, dir_fd=folder)
    try:
        os.fchmod(descriptor, mode)
        os.fchown(descriptor, owner, -1)
    finally:
        os.close(descriptor)
