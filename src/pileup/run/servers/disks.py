"""Small disks for launched servers, so that one can be filled: a tmpfs of a given size, where pileup is root."""

from __future__ import annotations

import errno
import os
import pwd
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pileup.model.errors import TargetError
from pileup.model.units import format_quantity
from pileup.record import files
from pileup.run.servers import commands

SOURCE = "pileup"
"""What the table of mounts calls them: nothing else is ever taken away."""
FILLING = "pileup-fills-this-disk"
"""Name of the file that fills one."""
BLOCK = 1 << 20
LOOK = 0.1
"""Seconds between two looks whether room has come free."""
WITHIN = 10 * 10**9


def mount(path: Path, size: int, user: str) -> None:
    """Put an empty disk of `size` bytes on a folder, which is made; it belongs to a user, "" for whoever runs pileup.

    The folder may be in one of that user's: the disk is mounted on the descriptor that was checked, not on what has the
    name by then.

    Raises TargetError where that cannot be done.
    """
    wanted = f"a disk of {format_quantity(size, 'size')} on {path}"
    hint = "leave out `disk` of the target and the faults that fill it"
    if os.geteuid() != 0:
        raise TargetError(f"{wanted} cannot be mounted: pileup does not run as root", "root", hint)
    owner = pwd.getpwnam(user) if user else pwd.getpwuid(0)
    options = f"size={size},mode=0700,uid={owner.pw_uid},gid={owner.pw_gid},nosuid,nodev"
    with files.folder_beneath(path.parent, (path.name,)) as folder:
        place = f"/proc/{os.getpid()}/fd/{folder}"
        done = commands.run(["mount", "--no-canonicalize", "-t", "tmpfs", "-o", options, SOURCE, place], WITHIN)
    if not done.good:
        raise TargetError(
            f"{wanted} cannot be mounted: mount {done.told()}", "root, on a host that lets it mount", hint
        )


def mounted(path: Path) -> bool:
    """Whether a disk of pileup's is there."""
    with suppress(OSError):
        lines = Path("/proc/self/mounts").read_text().splitlines()
        return any(line.split()[:3] == [SOURCE, str(path), "tmpfs"] for line in lines)
    return False


def unmount(path: Path) -> None:
    """Unmount a disk and discard its content, even if it is still in use. Raises TargetError."""
    while mounted(path):
        done = commands.run(["umount", str(path)], WITHIN)
        done = done if done.good else commands.run(["umount", "--lazy", str(path)], WITHIN)
        if not done.good:
            raise TargetError(f"the disk on {path} cannot be unmounted: umount {done.told()}", "root")


def keep_full(path: Path, wait: Callable[[float], bool]) -> None:
    """Fill a disk with a file and keep it full: what others free is taken too. Until `wait(seconds)` says it is over;
    then the file is removed.

    Raises TargetError when no disk of pileup's is there, OSError when it cannot be written for another reason.
    """
    if not mounted(path):
        raise TargetError(f"no disk of pileup's is on {path}", "a target with `disk`")
    with files.folder_beneath(path, (), make=False) as folder:
        with suppress(FileNotFoundError):
            os.unlink(FILLING, dir_fd=folder)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(FILLING, flags, 0o600, dir_fd=folder)
        try:
            _fill(descriptor)
            while not wait(LOOK):
                _fill(descriptor)
        finally:
            os.close(descriptor)
            with suppress(FileNotFoundError):
                os.unlink(FILLING, dir_fd=folder)


def _fill(descriptor: int) -> None:
    """Write until nothing goes in any more, not even a byte."""
    size = BLOCK
    while size:
        try:
            size = size if os.write(descriptor, bytes(size)) == size else size // 2
        except OSError as problem:
            if problem.errno != errno.ENOSPC:
                raise
            size //= 2
