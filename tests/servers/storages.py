"""Storage that pileup did not start, with files of others lying in it. A server more is a line in KINDS."""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.posix.target import PosixTarget
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import FileTarget
from tests.servers.apache import apache
from tests.servers.nginx import nginx
from tests.servers.practice import practice_storage
from tests.servers.rclone import rclone
from tests.servers.xrootd import ANEW, xrootd

FOLDERS = ("pileup", "pileup/in", "pileup/far", "pileup/empty", "pileup/made", "pileup/create", "pileup-check")
NAMES = ("f000000", "f000001", "f000003", "f000000.renamed", "d000000", "own-0", "in", ".pileup-set-f", "theirs")
"""What suites use, and more."""
INNER = "d000001/f000001"


@dataclass
class Storage:
    """A storage by url; `target` is a look at it beside any run."""

    kind: str
    url: str
    target: FileTarget
    options: dict[str, Any] = field(default_factory=dict)
    """Of the target of a suite."""

    @property
    def words(self) -> list[str]:
        """Words of the command line that put it in the place of a suite's target `se`."""
        options = {f"options.{name}": json.dumps(value) for name, value in self.options.items()}
        values = {"url": self.url, **options}
        return [word for name, value in values.items() for word in ("--set", f"targets.se.{name}={value}")]

    def snapshot(self) -> dict[str, str]:
        """Return all that is there: path -> digest of its content, "" for a folder."""
        found: dict[str, str] = {}

        def walk(folder: str) -> None:
            for each in self.target.list(folder):
                path = f"{folder}/{each.name}".lstrip("/")
                if each.folder:
                    found[path] = ""
                    walk(path)
                else:
                    found[path] = hashlib.sha256(b"".join(self.target.read(path))).hexdigest()

        walk("")
        return found

    def fill(self) -> dict[str, str]:
        """Put files of others under every name that suites use; return the snapshot."""
        for folder in ("", *FOLDERS):
            if folder:
                self.target.mkdir(folder)
            taken = {each.name for each in self.target.list(folder)}
            for name in NAMES:
                if name not in taken and not (name == "in" and folder == "pileup"):
                    self.target.write(f"{folder}/{name}".lstrip("/"), f"of others: {folder}/{name}".encode())
            self.target.mkdir(f"{folder}/{INNER.partition('/')[0]}".lstrip("/"))
            self.target.write(f"{folder}/{INNER}".lstrip("/"), b"of others")
        return self.snapshot()


@contextlib.contextmanager
def _posix(folder: Path) -> Iterator[Storage]:
    (folder / "disk").mkdir()
    yield Storage("posix", str(folder / "disk"), PosixTarget(str(folder / "disk")))


@contextlib.contextmanager
def closing(target: WebDavTarget) -> Iterator[WebDavTarget]:
    """Close its connection in the end."""
    try:
        yield target
    finally:
        target.connections.close()


def _dav(server: Callable[[Path], contextlib.AbstractContextManager[str]]) -> Callable[[Path], Iterator[Storage]]:
    def start(folder: Path) -> Iterator[Storage]:
        with server(folder) as url, closing(WebDavTarget(url)) as target:
            yield Storage("webdav", url, target)

    return start


@contextlib.contextmanager
def _root(folder: Path) -> Iterator[Storage]:
    with xrootd(folder) as server:
        yield Storage("xrootd", server.root, XrootdTarget(server.root))


@contextlib.contextmanager
def _http(folder: Path) -> Iterator[Storage]:
    with xrootd(folder) as server, closing(WebDavTarget(server.http)) as target:
        yield Storage("webdav", server.http, target, ANEW)


KINDS: dict[str, Callable[[Path], contextlib.AbstractContextManager[Storage]]] = {
    "posix": _posix,
    "nginx": contextlib.contextmanager(_dav(nginx)),
    "apache": contextlib.contextmanager(_dav(apache)),
    "rclone": contextlib.contextmanager(_dav(rclone)),
    "practice": contextlib.contextmanager(_dav(lambda _: practice_storage())),
    "root": _root,
    "http": _http,
}
