"""A private XRootD server: its configuration, and what it and its clients need to know each other."""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
import sqlite3
import time
from base64 import encodebytes
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

from pileup.builtin.credentials.macaroons import mint
from pileup.builtin.xrootd.settings import XrootdSettings
from pileup.plugin import Daemon, File, Launcher, Line, Task

EXPORT = "/data"
READY = r"------ xrootd \S+ initialization completed\.$"
SITE = "PILEUP"
ISSUER = "https://issuer.pileup.invalid"
"""Who issues its tokens: nobody is asked, the server has been given the issuer's key."""
AUDIENCE = "https://wlcg.cern.ch/jwt/v1/any"
SCOPE = "storage.read:/ storage.create:/ storage.modify:/ storage.stage:/"
ACTIVITIES = "READ_METADATA,DOWNLOAD,UPLOAD,LIST,MANAGE,DELETE"
DAY = 86_400 - 60
"""Seconds: the longest life of a macaroon that it accepts, as long as macaroons.maxduration is not given."""
TEN_YEARS = 10 * 365 * 86_400
GRACE = 10 * 10**9
CHECKSUMS = 64
"""Checksums that it makes at the same time; who asks when three times as many wait is asked to come again later."""
COPIES = 100
"""Third-party copies over root:// that it fetches at the same time; the others wait."""
# Without `xfr` XRootD 5.5.3 sends no closes in the stream `f`.
MONITORING = "xrootd.monitor all flush 1s flush io 1s window 1s fstat 1s lfn ops xfr 10 dest files fstat io user"
# A report, to nobody, makes it add up what its connections have moved so far: else that counts when they are closed.
COMMON = f"""
all.export {EXPORT}
all.adminpath {{short}}/a/admin
all.pidpath {{short}}/a/run
oss.localroot {{short}}
xrd.network nodnr norpipa
xrd.report 127.0.0.1:{{port:report}} every 1s all
xrd.protocol http libXrdHttp.so
http.desthttps no
http.selfhttps2http no
http.listingdeny no
http.header2cgi Authorization authz
"""
TLS = """
xrd.tls {short}/certificate.pem {short}/key.pem
xrd.tlsca certfile {short}/ca.pem
"""
AUTHORIZED = """
ofs.authorize 1
acc.authdb {short}/authdb
"""
MACAROONS = f"""
all.sitename {SITE}
http.exthandler xrdmacaroons libXrdMacaroons.so
macaroons.secretkey {{short}}/macaroon.key
ofs.authlib libXrdMacaroons.so
"""
TOKENS = """
ofs.authlib libXrdAccSciTokens.so config={short}/tokens.cfg
"""
TOKENS_CONFIG = f"""
[Global]
audience = {AUDIENCE}
[Issuer pileup]
issuer = {ISSUER}
base_path = {EXPORT}
"""


def xrootd_launcher(settings: Mapping[str, object], plain: str, secure: str) -> Launcher:
    """Return how to start XRootD; its url has the scheme `plain`, with TLS `secure`.

    Raises ValueError for a setting that is unknown or out of bounds, and when this machine lacks something.
    """
    wanted = XrootdSettings.model_validate(settings)
    if wanted.tpc and plain == "http" and not wanted.tls:
        raise ValueError("`tpc` without `tls`: XRootD makes third-party copies over https alone; expected `tls: true`")
    files = [File("{short}/xrootd.cfg", _configuration(wanted), mode=0o644), *_identity(wanted)]
    tasks: tuple[Task, ...] = ()
    if wanted.folder is None:
        files.append(File(f"{{short}}{EXPORT}", mode=0o755))
    else:
        tasks = (Task(("ln", "-sfn", _folder(wanted.folder), f"{{short}}{EXPORT}"), name="link"),)
    command = (_program(), "-I", "v4", "-p", "{port}", "-c", "{short}/xrootd.cfg", "-n", "pileup")
    daemon = Daemon(
        command,
        Line(READY),
        name="xrootd",
        environment={"XDG_CACHE_HOME": "{short}/cache"},
        folder="{short}",
        listen=("main",),
        backlog=wanted.backlog,
        grace=GRACE,
    )
    slashes = "//" if secure == "roots" else "/"
    url = f"{secure if wanted.tls else plain}://127.0.0.1:{{port}}{slashes}{EXPORT.lstrip('/')}/"
    return Launcher((*tasks, daemon), url, tuple(files), user=_user(wanted.folder), credentials=_credentials(wanted))


def _program() -> str:
    found = shutil.which("xrootd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        raise ValueError("xrootd is not installed here; expected it (Debian: apt-get install xrootd-server), or a url")
    return found


def _copy_program() -> str:
    found = shutil.which("xrdcp")
    if found is None:
        raise ValueError("xrdcp is not installed here, which `tpc` needs; expected it (apt-get install xrootd-client)")
    return found


def _user(folder: str | None) -> str:
    """Return who runs it under root, as whom it refuses to run: the owner of its files, else its package's user."""
    owner = Path(folder).stat().st_uid if folder is not None else 0
    names = [pwd.getpwuid(owner).pw_name] if owner else ["xrootd", "nobody"]
    known = {user.pw_name for user in pwd.getpwall()}
    return next((name for name in names if name in known), "")


def _folder(path: str) -> str:
    if not Path(path).is_absolute() or not Path(path).is_dir():
        raise ValueError(f"there is no folder {path}; expected an absolute path of one that is there, for the files")
    return path


def _configuration(wanted: XrootdSettings) -> str:
    parts = [COMMON, TLS if wanted.tls else ""]
    if wanted.checksum != "none":
        parts.append(f"xrootd.chksum max {CHECKSUMS} {wanted.checksum}\n")
    if wanted.threads is not None:
        least = min(8, wanted.threads)
        parts.append(f"xrd.sched mint {least} avlt {min(2, least)} maxt {wanted.threads} idle 60\n")
    if wanted.throttled:
        parts.append("\n".join(_throttle(wanted)) + "\n")
    if wanted.guard != "none":
        parts += [AUTHORIZED, MACAROONS if wanted.guard == "macaroons" else TOKENS]
    if wanted.tpc:
        parts.append(f"ofs.tpc ttl 60 60 xfr {COPIES} autorm pgm {_copy_program()} --server\n")
    if wanted.tpc and wanted.tls:
        parts.append("http.exthandler xrdtpc libXrdHttpTPC.so\n")
    if wanted.trace:
        parts.append("xrootd.trace request\nhttp.trace request\n")
    if wanted.monitoring is not None:
        parts.append(f"{MONITORING} 127.0.0.1:{wanted.monitoring}\n")
    return "".join((*parts, *(f"{line}\n" for line in wanted.directives)))


def _throttle(wanted: XrootdSettings) -> Iterator[str]:
    yield "xrootd.fslib throttle default"
    limits = {"concurrency": wanted.throttle, "data": wanted.bandwidth, "iops": wanted.operations}
    given = " ".join(f"{name} {int(value)}" for name, value in limits.items() if value is not None)
    if given:
        yield f"throttle.throttle {given}"
    if wanted.open_files is not None:
        yield f"throttle.max_open_files {wanted.open_files}"
    if wanted.connections is not None:
        yield f"throttle.max_active_connections {wanted.connections}"


def _credentials(wanted: XrootdSettings) -> dict[str, str]:
    given = {"ca": "{short}/ca.pem"} if wanted.tls else {}
    return given | ({"token_file": f"{{short}}/{wanted.guard}"} if wanted.guard != "none" else {})


def _identity(wanted: XrootdSettings) -> Iterator[File]:
    """Yield keys, certificates and tokens. They stay over restarts: clients know them."""
    if wanted.tls:
        issued = _certificates()
        made = issued.make_certificates(authority=issued.common_authority())
        for name, text in {"ca": made.ca, "certificate": made.certificate, "key": made.key}.items():
            yield File(f"{{short}}/{name}.pem", text, mode=0o400, keep=True)
    if wanted.guard != "none":
        yield File("{short}/authdb", f"u pileup-nobody {EXPORT} rl\n")
    if wanted.guard == "macaroons":
        yield from _macaroon()
    if wanted.guard == "tokens":
        yield from _token()


def _macaroon() -> Iterator[File]:
    key = secrets.token_bytes(64)
    end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + DAY))
    caveats = ("name:pileup", f"activity:{ACTIVITIES}", f"path:{EXPORT}", f"before:{end}")
    yield File("{short}/macaroon.key", encodebytes(key), mode=0o400, keep=True)
    yield File("{short}/macaroons", mint(key, SITE, str(uuid4()), caveats).encode() + b"\n", keep=True)


def _token() -> Iterator[File]:
    issuer = _certificates().TokenIssuer(ISSUER, AUDIENCE)
    yield File("{short}/tokens.cfg", TOKENS_CONFIG)
    yield File("{short}/cache/scitokens", mode=0o700)
    yield File("{short}/cache/scitokens/scitokens_cpp.sqllite", _key_cache(issuer.public_keys()), keep=True)
    yield File("{short}/tokens", issuer.token(SCOPE).encode() + b"\n", keep=True)


def _key_cache(keys: dict[str, object]) -> bytes:
    """Return the database in which the SciTokens library keeps keys of issuers, with those of ours.

    It asks issuers over https and takes no CA but those of the system: a private issuer would never do.
    """
    later = int(time.time()) + TEN_YEARS
    with closing(sqlite3.connect(":memory:")) as cache:
        cache.execute("CREATE TABLE keycache (issuer text UNIQUE PRIMARY KEY NOT NULL, keys text NOT NULL)")
        text = json.dumps({"expires": later, "next_update": later, "jwks": keys})
        cache.execute("INSERT INTO keycache VALUES (?, ?)", (ISSUER, text))
        cache.commit()
        return cache.serialize()


def _certificates() -> Any:
    try:
        from pileup.builtin.credentials import private_ca  # noqa: PLC0415  of an extra
    except ImportError as problem:
        raise ValueError(
            f"{problem.name} is not installed, which `tls` and `authorization: tokens` need; "
            "expected it: pip install 'pileup[servers]'"
        ) from None
    return private_ca
