"""Folders for temporary files outside the record: their names have the nonce of the run that makes and removes them."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from itertools import count
from pathlib import Path

from pileup.model.errors import TargetError

PREFIX = "pileup-"
SHORT = 12
"""Characters of a nonce in a name: paths of sockets have room for about a hundred."""
PLAIN = re.compile(r"[A-Za-z0-9._/+-]+")
"""Paths that every server reads from its configuration as one word."""
EVERYWHERE = Path("/tmp")  # noqa: S108  its folders are ours alone
MOUNTS = Path("/proc/self/mountinfo")


def new_nonce() -> str:
    """Return a nonce: 32 random hexadecimal digits."""
    return secrets.token_hex(16)


def make(nonce: str, base: Path | None = None) -> Path:
    """Make a folder that is ours alone, in `base` or the folder for temporary files. Raises OSError."""
    base = base or Path(tempfile.gettempdir())
    for number in count(1):
        path = base / f"{PREFIX}{nonce[:SHORT]}-{number}"
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return path
    raise AssertionError("counting does not end")


def plain_base() -> Path:
    """Return the folder for temporary files, or /tmp if its path has a space or another special character.

    XRootD and Slurm have no quotes for such a path in their configurations.
    """
    base = Path(tempfile.gettempdir())
    return base if PLAIN.fullmatch(str(base)) else EVERYWHERE


def is_of(path: Path, nonce: str) -> bool:
    """Whether a name is one that the run with this nonce gives its folders, or is beneath such a folder."""
    if len(nonce) < SHORT or not path.is_absolute() or ".." in path.parts:
        return False
    return any(part.startswith(f"{PREFIX}{nonce[:SHORT]}-") for part in path.parts[1:])


def remove(path: Path, nonce: str) -> None:
    """Remove a folder of the run with this nonce, with all that is in it. Raises TargetError, OSError."""
    own = path.name.startswith(f"{PREFIX}{nonce[:SHORT]}-") and is_of(path, nonce)
    if not own or path.is_symlink() or not path.is_dir():
        told = f"{path} is not a folder that this run has made"
        raise TargetError(told, f"one like {tempfile.gettempdir()}/{PREFIX}{nonce[:SHORT]}-1", "remove it by hand")
    if below := _mounted_below(path):
        raise TargetError(f"{below} is mounted in {path}", "nothing", f"umount {below}")
    shutil.rmtree(path)


def _mounted_below(path: Path) -> str:
    """Return a place below a folder where something is mounted, which is not ours to remove."""
    whole = os.path.realpath(path) + "/"
    try:
        places = [line.split()[4] for line in MOUNTS.read_text().splitlines()]
    except (OSError, IndexError):
        return ""
    return next((place for place in places if place.startswith(whole)), "")
