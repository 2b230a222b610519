"""By which way files are read: the urls of a target as reading libraries take them, and who pileup is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import TypedDict
from urllib.parse import quote, urlsplit

from pileup.builtin.credentials.authorities import is_folder
from pileup.builtin.credentials.token_source import TokenSource
from pileup.builtin.http.target import HttpTarget
from pileup.builtin.xrootd.bindings import let_in
from pileup.builtin.xrootd.location import ClientSettings
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.builtin.xrootd.words import QUICK
from pileup.plugin import FileTarget, PluginError

ROOT, ROOTS, HTTPS = "root", "roots", "https"
NO_TOKEN = TokenSource(None, None)


class FsspecOptions(TypedDict, total=False):
    """What aiohttp is given with each request."""

    headers: dict[str, str]
    ssl: object
    server_hostname: str


@dataclass(frozen=True)
class Way:
    """Where the files of a folder are. Holds secrets: never shown."""

    base: str
    """Url of the folder as a library connects to it; a path of this machine has no scheme."""
    shown: str
    """The same as users know it: without a relay."""
    token: TokenSource = NO_TOKEN
    headers: Mapping[str, str] = field(default_factory=dict)
    """What is sent with every request of HTTP, but for the token."""
    tls: SSLContext | None = None
    fingerprint: str = ""
    """SHA-256 of the one certificate that the server may show, hexadecimal."""
    server: str = ""
    """Whom the certificate is for, where the url is that of a relay."""
    settings: ClientSettings | None = None
    """The same for XRootD's own client."""

    def __repr__(self) -> str:
        return f"Way({self.shown})"

    @property
    def scheme(self) -> str:
        """`root`, `roots`, `http`, `https`; empty for a path of this machine."""
        return urlsplit(self.base).scheme

    def url_of(self, name: str) -> str:
        """Return the url of a file, for root:// with the token that gives access."""
        if not self.scheme:
            return f"{self.base}/{name}"
        url = f"{self.base}/{quote(name)}"
        token = self.token.get() if self.scheme in {ROOT, ROOTS} else ""
        return f"{url}?authz=Bearer%20{token}" if token else url

    def name_of(self, name: str) -> str:
        """Return the url of a file as messages show it."""
        return f"{self.shown}/{name}"

    def for_fsspec(self) -> FsspecOptions:
        """Return what a file system of fsspec needs to know beside the url."""
        if self.settings is not None:
            let_in(self.settings)
        if not self.scheme.startswith("http"):
            return {}
        token = self.token.get()
        found: FsspecOptions = {"headers": {**self.headers, **({"Authorization": f"Bearer {token}"} if token else {})}}
        if self.fingerprint:
            import aiohttp  # noqa: PLC0415  `pileup list` loads every plug-in

            found["ssl"] = aiohttp.Fingerprint(bytes.fromhex(self.fingerprint))
        elif self.tls is not None:
            found["ssl"] = self.tls
        if self.server and self.tls is not None:
            found["server_hostname"] = self.server
        return found

    def environment(self) -> dict[str, str]:
        """Return what a process that reads with XRootD's own client finds in its environment."""
        if self.settings is None:
            return {}
        found = {f"XRD_{name.upper()}": str(value) for name, value in QUICK.items()}
        if proxy := self.settings.get("proxy"):
            found["X509_USER_PROXY"] = proxy
        if ca := self.settings.get("ca"):
            found["X509_CERT_DIR" if is_folder(ca) else "X509_CERT_FILE"] = ca
        return found


def way_of(target: FileTarget, folder: str) -> Way:
    """Return how the files of a folder of a target are read.

    Raises PluginError for a kind of target that no library here reads from, TargetError for credentials that cannot be
    used.
    """
    if isinstance(target, XrootdTarget):
        return _over_root(target, folder)
    if isinstance(target, HttpTarget):
        return _over_http(target, folder)
    if urlsplit(target.url).scheme in {"", "file"} and hasattr(target, "root"):
        path = "/".join(filter(None, (str(target.root), folder)))
        return Way(path, path)
    told = f"a target of the kind {target.kind} is read by neither uproot nor ROOT"
    raise PluginError(told, "kind posix, xrootd or webdav", "put a server of one of these before the files")


def _over_root(target: XrootdTarget, folder: str) -> Way:
    settings = target.official()
    parts = urlsplit(settings["url"])
    host = f"{user}@{parts.netloc}" if (user := settings.get("user")) else parts.netloc
    base = parts._replace(netloc=host, path=f"/{parts.path.strip('/')}/{folder}".rstrip("/"), query="")
    shown = f"{target.url.rstrip('/')}/{folder}".rstrip("/")
    token = TokenSource(settings.get("token"), settings.get("token_file"))
    # two slashes begin the path of a file
    return Way(f"{base.scheme}://{base.netloc}/{base.path}", shown, token, settings=settings)


def _over_http(target: HttpTarget, folder: str) -> Way:
    where, who = target.location, target.identity
    headers = {**target.sent_headers(), **who.headers()}
    authority = where.authority
    if target.via:
        headers["Host"] = authority
        authority = "{}:{}".format(*target.reach())
    path = where.path_of(folder).rstrip("/")
    shown = f"{target.url.rstrip('/')}/{folder}".rstrip("/")
    secure = where.scheme == HTTPS
    return Way(
        f"{where.scheme}://{authority}{path}",
        shown,
        who.source(),
        headers,
        who.tls() if secure else None,
        target.certificate_sha256 or "",
        where.host if target.via else "",
    )
