"""Storage that speaks the XRootD protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from pileup.builtin.credentials.connected_target import ConnectedTarget
from pileup.builtin.credentials.identity import Identity
from pileup.builtin.credentials.reading import identity_of
from pileup.builtin.credentials.server_certificates import speaks_tls
from pileup.builtin.xrootd.bindings import XrootdBindings
from pileup.builtin.xrootd.launcher import xrootd_launcher
from pileup.builtin.xrootd.location import ClientSettings, Place, place_of
from pileup.builtin.xrootd.session import CONFIG, FOLDER, STATS, Sessions
from pileup.builtin.xrootd.settings import XrootdSettings
from pileup.builtin.xrootd.xrdcp import XrdCopy
from pileup.plugin import (
    Ambiguous,
    ClientSpec,
    Entry,
    Failed,
    FileTarget,
    Launcher,
    NotThere,
    ProgramClient,
    Refused,
    Size,
    Step,
    Target,
    TargetError,
    no_folder,
    option,
)

PIECE = 8 << 20
"""Bytes read at a time."""
CLIENTS: dict[str, type[XrootdBindings] | type[XrdCopy]] = {"bindings": XrootdBindings, "xrdcp": XrdCopy}
NATIVE = ("token", "token_file", "ca", "user", "certificate_sha256", "insecure")
"""Words of an identity that the engine's client takes."""


class XrootdTarget(ConnectedTarget, FileTarget):
    """Storage that speaks the XRootD protocol: XRootD, EOS, dCache, and what is built on them.

    The url is that of an existing folder: root://host:1094//path, with TLS roots://host//path (also xroot:// and
    xroots://). Every client has its own session.

    Credentials: `token` or `token_file`, `ca` (a file or a folder), `user` (the name to log in with). `token` and `ca`
    may be `discover`: what the grid's own tools would find. A token file is read again when it changes. A token is sent
    only over TLS, or within this machine: for another host TLS is requested automatically. An X.509 proxy (`proxy`) on
    root:// needs the protocol GSI, which the engine does not speak: use `client: bindings` or `client: xrdcp`, or the
    same storage by kind `webdav`.

    With `launch` pileup starts a server on this machine and ends it after the run, for example `launch: {throttle: 16,
    checksum: crc32c}`; every setting can be an axis of a scan.
    """

    kind = "xrootd"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "files", "xroot", "tpc"})
    launch_settings = XrootdSettings

    keep_alive: bool = option(True, help="keep a session for all operations of a client; false: a new one for each")
    page_checksums: bool = option(
        False,
        help="move data in pages with a CRC-32C each, as xrdcp does (pgread, pgwrite); false: plain reads, writes",
    )
    read_ahead: Size | None = option(
        None, help="read-ahead: bytes requested before they are needed; default: what suits the test"
    )

    client_: Literal["native", "bindings", "xrdcp"] = option(
        "native",
        help="what runs the steps of tests: the engine, the official Python bindings (`pip install 'pileup[xrootd]'`), "
        "or the command xrdcp, a process for each file",
    )

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start XRootD. Raises ValueError for a setting that is unknown or out of bounds."""
        return xrootd_launcher(settings, "root", "roots")

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse what is not a url of an XRootD server."""
        place_of(url)

    def endpoint(self) -> tuple[str, int]:
        """Return host and port of the url."""
        return self.place.host, self.place.port

    @property
    def place(self) -> Place:
        """The url, taken apart. Raises TargetError for one that is not valid."""
        return place_of(self.url)

    @property
    def identity(self) -> Identity:
        """Who pileup is for the target. Raises TargetError for credentials that cannot be used."""
        given = self.credentials
        if given.password is not None or given.certificate is not None:
            raise TargetError(
                "credentials have a password or a certificate, which root:// does not take",
                "a token, a token_file, or a proxy",
                "kind `webdav` takes them",
            )
        if given.proxy is not None and self.client_ == "native":
            raise TargetError(
                "an X.509 proxy on root:// works through the official client only",
                "`client: bindings` or `client: xrdcp` among the options of the target, a token, or kind `webdav`",
            )
        named = (
            given if not given.bearer else given.model_copy(update={"user": None})
        )  # here a name, no other way to come in
        found = identity_of(named, self.place.host, secret=True, tls=True)  # the client itself asks for TLS
        return self.believing(found)

    def client(self) -> ClientSpec:
        """Return the engine's XRootD client. The settings hold secrets."""
        return ClientSpec("xroot", self._settings())

    def _settings(self) -> ClientSettings:
        who = self.identity.to_native()
        known = {word: each for word, each in who.items() if word in NATIVE}
        settings: ClientSettings = {
            "url": self.place.url,
            **self.route(),
            "keep_alive": self.keep_alive,
            "page_checksums": self.page_checksums,
            "reconnect_pause": self.reconnect_pause,
            **cast(ClientSettings, known),
        }
        if self.credentials.user is not None:
            settings["user"] = self.credentials.user
        if self.read_ahead is not None:
            settings["read_ahead"] = self.read_ahead
        return settings

    def program_client(self) -> Callable[[int], ProgramClient] | None:
        """Return what makes a client of the kind chosen. Raises PluginError when it is not installed."""
        chosen = CLIENTS.get(self.client_)
        return partial(chosen, self.official()) if chosen else None

    def preparing_client(self) -> Callable[[int], ProgramClient] | None:
        """Return the bindings where a proxy gives access, which the engine cannot use."""
        return partial(XrootdBindings, self.official()) if self.credentials.proxy is not None else None

    def official(self) -> ClientSettings:
        """Return the settings for the official clients: with the proxy, which the engine's client does not take.

        Raises TargetError for a token that they would send in plain.
        """
        who = self.identity
        place = self.place
        if (who.token or who.token_file) and not place.tls and not place.near:
            raise TargetError(
                f"`client: {self.client_}` would send the token to {place.host} in plain",
                "a url that begins with roots://",
            )
        settings = self._settings()
        if self.via:
            if place.tls and not place.near:
                raise TargetError(
                    f"`client: {self.client_}` over TLS takes no relay: the certificate is for {place.host}",
                    "`client: native`, or no `path`",
                )
            settings["url"] = place.through(self.via).url
        if self.credentials.proxy is not None and who.certificate is not None:
            settings["proxy"] = who.certificate
        return settings

    def problem_of(self, step: Step) -> str:
        """Return why the client chosen cannot do a step."""
        chosen = CLIENTS.get(self.client_)
        if chosen and not self.keep_alive:
            return f"`client: {self.client_}` ends sessions when it likes; expected `keep_alive: true`"
        if chosen and self.read_ahead:
            return f"`client: {self.client_}` has a read-ahead of its own; expected no `read_ahead`"
        if chosen and (self.insecure or self.certificate_sha256):
            return f"`client: {self.client_}` knows neither `insecure` nor `certificate_sha256`; expected `ca`"
        return chosen.problem(step) if chosen else super().problem_of(step)

    def problem_of_copy(self, to: Target) -> str:
        """Refuse targets that do not speak XRootD."""
        if isinstance(to, XrootdTarget):
            return ""
        return f"a third-party copy over root:// goes to kind {to.kind}; expected a target of kind xrootd for both ends"

    @cached_property
    def sessions(self) -> Sessions:
        """Sessions for Python tests, one for each thread."""
        return self._sessions(self.patience)

    def _sessions(self, patience: int) -> Sessions:
        settings = self._settings() if self.credentials.proxy is None else self.official()
        return Sessions(settings, patience / 1e9)

    def probe(self) -> str:
        """Ask for the version, and look at the folder."""
        first, reached = self._sessions(self.first_answer), False
        try:
            with first.session("connecting") as session:
                session.connect()
            reached, version = True, self._version()
            there = self.stat("")
        except NotThere as problem:
            raise no_folder(self.url) from problem
        except (Failed, Ambiguous) as problem:
            raise self._unreached(problem, reached) from problem
        except Refused as problem:
            raise TargetError(
                f"{self.url}: access denied: {problem.what}", "access", "check the target's `credentials`"
            ) from problem
        finally:
            first.close()
            self.sessions.close()
        if not there.folder:
            raise TargetError(f"{self.url} is a file", "the url of a folder", "correct the url")
        return f"XRootD {version}" if version else "a server that does not report its version"

    def _unreached(self, problem: Failed | Ambiguous, reached: bool) -> TargetError:
        """Return what to raise where the folder could not be looked at; `reached`: the server has given access."""
        if reached:
            told = f"{self.url} cannot be used: {problem.what}"
            return TargetError(told, "the url of an existing folder", "correct the url")
        place = self.place
        silent = isinstance(problem.__cause__, TimeoutError)
        if not (place.tls or silent) and speaks_tls(*self.reach(), self.first_answer / 1e9):
            told = f"{self.url}: the server speaks TLS on this port, not xroot"
            return TargetError(told, "a port of XRootD", "is https:// or davs:// meant?")
        hint = "is it up, is the url right?"
        if place.tls:
            hint += " Where its certificate is not trusted: `ca`, or the option `certificate_sha256` or `insecure`"
        return TargetError(f"{self.url} cannot be reached: {problem.what}", "a folder that is there", hint)

    def statistics(self) -> bytes:
        """Return what the server counts (XML). Raises Failed, Refused, Ambiguous."""
        with self.sessions.session("the statistics") as session:
            answer: bytes = session.query(STATS, "a")
        return answer.rstrip(b"\0\n")

    def list(self, path: str) -> list[Entry]:
        """Return the entries of a folder, sorted by name."""
        with self._about(path) as session:
            found = [
                Entry(name, 0 if flags & FOLDER else size, bool(flags & FOLDER))
                for name, size, flags, _ in session.list(path)
            ]
        return sorted(found, key=lambda entry: entry.name)

    def stat(self, path: str) -> Entry:
        """Return what is at a path."""
        with self._about(path) as session:
            size, flags, _ = session.stat(path)
        folder = bool(flags & FOLDER)
        return Entry(path.rstrip("/").rpartition("/")[2], 0 if folder else size, folder)

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file in pieces of at most 8 MiB."""
        size, offset = self.stat(path).size, 0
        while offset < size:
            with self._about(path) as session:
                piece = session.read(path, offset, min(PIECE, size - offset))
            if not piece:
                raise Failed(f"{path!r} ended after {offset} of {size} bytes")
            yield piece
            offset += len(piece)

    def write(self, path: str, data: bytes) -> None:
        """Write a whole file."""
        with self._about(path) as session:
            session.write(path, data)

    def create(self, path: str, data: bytes) -> None:
        """Write a file where nothing is yet."""
        with self._about(path) as session:
            session.write(path, data, new=True)

    def delete(self, path: str) -> None:
        """Remove a file or an empty folder."""
        if not path.strip("/"):
            raise Refused(f"{path!r} is the target itself", "a path below it", "pileup does not remove it")
        whole = path.rstrip("/") + "/" if self.stat(path).folder else path  # with a slash the client removes a folder
        with self._about(path) as session:
            session.delete(whole)

    def mkdir(self, path: str) -> None:
        """Make a folder; one that is there already is fine."""
        if not path.strip("/"):
            return
        with self._about(path) as session:
            try:
                session.mkdir(path)
            except FileExistsError:
                _, flags, _ = session.stat(path)
                if not flags & FOLDER:
                    raise

    def _version(self) -> str:
        with self.sessions.session("connecting") as session:
            try:
                answer: bytes = session.query(CONFIG, "version")
            except TimeoutError:
                raise
            except OSError:  # not every kind of server answers this
                session.stat("")
                return ""
            return answer.decode("ascii", "replace").strip("\0\n ")

    def _about(self, path: str) -> Any:
        return self.sessions.session(repr(path))
