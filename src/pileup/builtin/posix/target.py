"""A folder of this machine: a local disk, or a mounted file system."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ELOOP
from pathlib import Path
from stat import S_ISDIR
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from pileup.builtin.posix.beneath import HERE, Place, inside, reach, refused
from pileup.plugin import (
    ClientSpec,
    Entry,
    Failed,
    FileTarget,
    NotThere,
    Refused,
    TargetError,
    ThereAlready,
    no_folder,
    option,
)
from pileup.plugin.units import format_size

PIECE = 1 << 20


class PosixTarget(FileTarget):
    """A folder on a file system that is mounted here: local disk, NFS, CephFS, Lustre, EOS, dCache.

    The url is a path, or file:///path. Without a url a temporary folder is made, and removed after the run. Files use
    the page cache unless `direct` is set. pileup stays inside the folder: paths that lead out of it, by `..` or a
    symbolic link, are refused.
    """

    kind = "posix"
    scratch: ClassVar[bool] = True

    direct: bool = option(
        False,
        help="bypass the page cache (O_DIRECT); sizes, offsets, lengths and buffers must be multiples of 4096 "
        "bytes, and the file system must support it",
    )

    @property
    def root(self) -> Path:
        """The folder, absolute. Raises TargetError for a url that names none."""
        return _folder_of(self.url)

    def client(self) -> ClientSpec:
        """Return the engine's client for files."""
        direct = {"direct": True} if self.direct else {}
        return ClientSpec("posix", {"root": str(self.root), **direct})

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse what is not a path of this machine."""
        _folder_of(url)

    def probe(self) -> str:
        """Look at the folder once."""
        root = self.root
        if not root.is_dir():
            if root.exists():
                raise TargetError(f"{root} is a file", "the path of a folder", "correct the url")
            raise no_folder(self.url)
        if not os.access(root, os.R_OK | os.X_OK):
            raise TargetError(
                f"the folder {root} cannot be read", "a folder this user may read", "check its permissions"
            )
        return f"folder {root} with {format_size(shutil.disk_usage(root).free)} free"

    def list(self, path: str) -> list[Entry]:
        """Return the entries of a folder, sorted by name."""
        with self._at(path) as place, place.entries() as found:
            return sorted((_entry(each) for each in found), key=lambda entry: entry.name)

    def stat(self, path: str) -> Entry:
        """Return what is at a path."""
        with self._at(path) as place:
            found = place.stat()
        folder = S_ISDIR(found.st_mode)
        name = self._true_root().name if place.name == HERE else place.name
        return Entry(name, 0 if folder else found.st_size, folder)

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file in pieces of 1 MiB."""
        with self._at(path) as place, place.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece

    def write(self, path: str, data: bytes) -> None:
        """Write a whole file."""
        with self._at(path) as place, place.open("wb") as file:
            file.write(data)

    def create(self, path: str, data: bytes) -> None:
        """Write a file where nothing is yet; a link is something."""
        with self._at(path, follow=False) as place, place.open("xb") as file:
            file.write(data)

    def delete(self, path: str) -> None:
        """Remove a file, or a folder when it is empty; of a link, the link."""
        with self._at(path, follow=False) as place:
            if place.name == HERE:
                raise Refused(f"{path!r} is the target itself", "a path below it", "pileup does not remove it")
            if S_ISDIR(place.stat(links=True).st_mode):
                os.rmdir(place.name, dir_fd=place.folder)
            else:
                os.unlink(place.name, dir_fd=place.folder)

    def mkdir(self, path: str) -> None:
        """Make a folder; one that is there already is fine."""
        with self._at(path) as place:
            try:
                os.mkdir(place.name, dir_fd=place.folder)
            except FileExistsError:
                if not S_ISDIR(place.stat().st_mode):
                    raise

    def _true_root(self) -> Path:
        """Return the folder with no link in its path."""
        return Path(os.path.realpath(self.root))

    @contextmanager
    def _at(self, path: str, *, follow: bool = True) -> Iterator[Place]:
        """Yield a place below the root. Raises Refused when the path leads out, as of now or by a link put there."""
        root = self._true_root()
        relative = inside(root, path, follow=follow)
        with _said(path, root), reach(root, relative) as place:
            yield place


def _folder_of(url: str) -> Path:
    if not url:
        raise TargetError("the target has no url", "a path like /data/scratch, or file:///data/scratch")
    if "://" not in url:
        return Path(url).expanduser().absolute()
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path:
        raise TargetError(
            f"{url!r} is not a path of this machine", "a path, or file:///path", "see `pileup list targets`"
        )
    return Path(unquote(parts.path))


def _entry(found: os.DirEntry[str]) -> Entry:
    folder = found.is_dir()
    return Entry(found.name, 0 if folder else found.stat(follow_symlinks=found.is_file()).st_size, folder)


@contextmanager
def _said(path: str, root: Path) -> Iterator[None]:
    """Turn what the system says into a verdict: a no is a refusal, a link on the way too, all else a failure."""
    try:
        yield
    except PermissionError as problem:
        raise Refused(f"{path!r}: {problem.strerror}", "permission", "check its owner and mode") from problem
    except FileNotFoundError as problem:
        raise NotThere(f"there is nothing at {path!r}") from problem
    except FileExistsError as problem:
        raise ThereAlready(f"{path!r}: {problem.strerror}") from problem
    except OSError as problem:
        if problem.errno == ELOOP:
            raise refused(path, root) from problem
        raise Failed(f"{path!r}: {problem.strerror or problem}") from problem
