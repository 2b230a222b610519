"""Storage that speaks WebDAV."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from pileup.builtin.http.connection import judge
from pileup.builtin.http.multistatus import PROPFIND, parse_entries
from pileup.builtin.http.target import HttpTarget
from pileup.builtin.xrootd.launcher import xrootd_launcher
from pileup.builtin.xrootd.settings import XrootdSettings
from pileup.plugin import (
    Entry,
    Failed,
    FileTarget,
    Launcher,
    NoListing,
    NotThere,
    Part,
    Refused,
    Target,
    TargetError,
    ThereAlready,
    VerdictException,
    no_folder,
)

OK = 200
WITHOUT_PROPFIND = (405, 501)
"""What a server says of a method that it does not know."""
SOMETHING_THERE = 412
"""What a PUT with `If-None-Match: *` says of something that is there (RFC 9110, 13.1.2)."""
THERE_ALREADY = 405
"""What MKCOL says of something that is there (RFC 4918, 9.3.1)."""
SENT_ON = (301, 302, 307, 308)
LISTED = 207
Listing = list[Entry]
"""What was asked for, and what is in it."""


class WebDavTarget(HttpTarget, FileTarget):
    """Storage that speaks WebDAV (RFC 4918): dCache, StoRM, XRootD, EOS, Apache, nginx.

    The url is that of an existing folder: http:// or https:// (also dav:// and davs://). Credentials as for kind
    `http`. Files are written with PUT, read with GET, examined with HEAD, removed with DELETE; folders are made with
    MKCOL and listed with PROPFIND.

    With `launch` pileup starts an XRootD server on this machine and ends it after the run, for example `launch:
    {tls: true, authorization: tokens, throttle: 16}`; every setting can be an axis of a scan.
    """

    kind = "webdav"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "files", "http", "tpc"})
    copies: ClassVar[bool] = True
    launch_settings: ClassVar[type[Part]] = XrootdSettings

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start XRootD. Raises ValueError for a setting that is unknown or out of bounds."""
        return xrootd_launcher(settings, "http", "https")

    def problem_of_copy(self, to: Target) -> str:
        """Refuse targets that do not speak HTTP."""
        if isinstance(to, WebDavTarget):
            return ""
        return f"a third-party copy over HTTP goes to kind {to.kind}; expected a target of kind webdav for both ends"

    def probe(self) -> str:
        """Ask what the server can do."""
        answer = self._look("OPTIONS")
        name = answer.getheader("Server") or "an unnamed server"
        if answer.status in (401, 403):
            raise TargetError(
                f"{self.url}: access denied: {answer.status} {answer.reason}",
                "access",
                "check the target's `credentials`",
            )
        if answer.status >= 500 and answer.status != 501:
            raise TargetError(
                f"{self.url} says {answer.status} {answer.reason}", "an answer below 500", "check its log"
            )
        self._look_for_folder()
        dav = answer.getheader("DAV")
        return f"{name}, WebDAV class {dav}" if dav else name

    def _look_for_folder(self) -> None:
        """Raise TargetError where no folder is at the url; any other answer is met again by the tests."""
        try:
            found = self._propfind("", "0")
            if found is None:
                self.stat("")
            elif not found[0].folder:
                raise TargetError(f"{self.url} is a file", "the url of a folder", "correct the url")
        except NotThere as problem:
            raise no_folder(self.url) from problem
        except VerdictException:
            pass
        finally:
            self.connections.close()

    def list(self, path: str) -> list[Entry]:
        """Return the entries of a folder, sorted by name."""
        found = self._propfind(_as_folder(path), "1")
        if found is None:
            raise NoListing(f"{path!r} cannot be listed: the server has no PROPFIND", "a server that speaks WebDAV")
        itself, *entries = found
        if not itself.folder:
            raise Failed(f"{path!r} is not a folder")
        return sorted(entries, key=lambda entry: entry.name)

    def stat(self, path: str) -> Entry:
        """Return what is at a path; a server without PROPFIND is asked with HEAD, and may call a folder a file."""
        found = self._propfind(path, "0")
        return found[0] if found is not None else self._by_head(path)

    def _by_head(self, path: str) -> Entry:
        """Return what HEAD says: a folder is what is sent on to the same path with a slash at its end."""
        name = path.rstrip("/").rpartition("/")[2]
        answer = self.connections.send("HEAD", path)
        to = urlsplit(answer.head.getheader("Location") or "").path
        if answer.status in SENT_ON and to.rstrip("/") == self.location.path_of(path).rstrip("/") and to.endswith("/"):
            return Entry(name, 0, folder=True)
        _judge(answer.head, "HEAD", path)
        return Entry(name, int(answer.head.getheader("Content-Length") or 0), folder=False)

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file in pieces of at most 1 MiB."""
        exchange = self.connections.begin("GET", path)
        if exchange.head.status != OK:
            exchange.drop()
        judge(exchange.head, "GET", path, OK)
        yield from exchange.pieces()

    def write(self, path: str, data: bytes) -> None:
        """Write a whole file."""
        _judge(self.connections.send("PUT", path, data).head, "PUT", path)

    def create(self, path: str, data: bytes) -> None:
        """Write a file where nothing is yet; a server that knows no `If-None-Match` is asked before, too."""
        if _there(self, path):
            raise ThereAlready(f"there is something at {path!r}")
        answer = self.connections.send("PUT", path, data, {"If-None-Match": "*"})
        if answer.status == SOMETHING_THERE:
            raise ThereAlready(f"there is something at {path!r}")
        _judge(answer.head, "PUT", path)

    def delete(self, path: str) -> None:
        """Remove a file or an empty folder.

        DELETE on a folder removes all that is in it (RFC 4918, 9.6.1), so a folder is listed first. Where HEAD alone
        says what a path is, `Depth: 0` has a server refuse to remove a folder that HEAD has called a file.
        """
        _refuse_root(path)
        found = self._propfind(path, "0")
        if (found[0] if found is not None else self._by_head(path)).folder:
            path = _as_folder(path)
            if entries := self.list(path):
                raise Failed(f"the folder {path!r} is not empty", "an empty one", f"it holds {entries[0].name!r}")
        headers = {} if found is not None else {"Depth": "0"}
        judge(self.connections.send("DELETE", path, headers=headers).head, "DELETE", path)

    def remove_tree(self, path: str) -> None:
        """Remove a folder with all that is in it, as DELETE does."""
        _refuse_root(path)
        path = _as_folder(path)
        answer = self.connections.send("DELETE", path)
        if answer.status == LISTED:
            raise Failed(f"something in {path!r} could not be removed")
        judge(answer.head, "DELETE", path)

    def mkdir(self, path: str) -> None:
        """Make a folder; one that is there already is fine."""
        if _is_root(path):
            return
        folder = _as_folder(path)
        answer = self.connections.send("MKCOL", folder)
        if answer.status != THERE_ALREADY or not self._is_folder(folder):
            _judge(answer.head, "MKCOL", path)

    def _is_folder(self, path: str) -> bool:
        with suppress(Failed):
            return self.stat(path).folder
        return False

    def _propfind(self, path: str, depth: str) -> Listing | None:
        """Ask for what is at a path, then for what is in it; None: the server has no PROPFIND."""
        exchange = self.connections.begin("PROPFIND", path, PROPFIND, _depth(depth))
        if exchange.head.status != LISTED:
            exchange.drop()
            if exchange.head.status in WITHOUT_PROPFIND:
                return None
        judge(exchange.head, "PROPFIND", path, LISTED)
        with closing(exchange.pieces()) as pieces:
            return parse_entries(pieces, self.location.path_of(path))


def _judge(answer: http.client.HTTPResponse, method: str, path: str) -> None:
    """Raise Refused or Failed unless the status passes; a method that the server does not know says what it lacks."""
    if answer.status in WITHOUT_PROPFIND:
        raise Failed(
            f"{method} {path!r}: {answer.status} {answer.reason}: the server does not speak WebDAV here",
            "a server that knows PROPFIND, MKCOL and PUT",
            "is this the url of its WebDAV endpoint?",
        )
    judge(answer, method, path)


def _as_folder(path: str) -> str:
    """Return the path of a folder with the slash that servers want at its end; "/" for the target itself."""
    bare = path.strip("/")
    return f"{bare}/" if bare else "/"


def _there(target: FileTarget, path: str) -> bool:
    try:
        target.stat(path)
    except NotThere:
        return False
    return True


def _refuse_root(path: str) -> None:
    if _is_root(path):
        raise Refused(f"{path!r} is the target itself", "a path below it", "pileup does not remove it")


def _is_root(path: str) -> bool:
    return not path.strip("/")


def _depth(depth: str) -> dict[str, str]:
    return {"Depth": depth, "Content-Type": "application/xml"}
