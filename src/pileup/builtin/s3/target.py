"""Storage that speaks S3."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar, Literal, TypedDict

from pileup.builtin.credentials.connected_target import ConnectedTarget, Route
from pileup.builtin.credentials.control_sessions import EngineSessions
from pileup.builtin.credentials.identity import EngineIdentity
from pileup.builtin.credentials.reading import identity_of
from pileup.builtin.credentials.server_certificates import speaks_tls
from pileup.builtin.s3.keys import EngineKeys, Keys, keys_of, region_of
from pileup.builtin.s3.location import S3Place, place_of
from pileup.plugin import (
    Ambiguous,
    ClientSpec,
    Entry,
    Failed,
    FileTarget,
    NotThere,
    Refused,
    Size,
    Step,
    TargetError,
    ThereAlready,
    option,
)
from pileup.plugin.verbs import Names


class HttpPart(EngineIdentity, Route, total=False):
    """How the engine's client speaks to the server."""

    url: str
    keep_alive: bool
    resume: bool
    expect: str
    reconnect_pause: int


class S3Settings(TypedDict):
    """Settings of the engine's S3 client (crates/pileup-s3/src/settings.rs). Holds secrets."""

    http: HttpPart
    bucket: str
    prefix: str
    addressing: str
    region: str
    credentials: EngineKeys | None
    payload: str
    part_size: int | None
    checksum: str | None


PIECE = 8 << 20
"""Bytes read at a time."""
FOLDER = 2
"""Flag of what keys begin with (crates/pileup-s3/src/plane.rs)."""
NAME, END_UPLOADS = 1, 2
"""Queries of a session (the same)."""
MOST_PARTS = 10_000
"""Parts of an upload (Amazon S3 User Guide, "multipart upload limits")."""
RENAME = "S3 has no rename: it would be a copy and a delete; expected a test without"
MKDIR = "S3 has no folders to make: a prefix is there when something is in it; expected a test without"
ADLER32 = "S3 has no Adler-32; expected `checksum: none` in the test, and `checksum: crc32c` of the target"
KEY_WORDS = ("access_key", "secret_key", "session_token", "profile")


class S3Target(ConnectedTarget, FileTarget):
    """Storage that speaks S3: AWS, Ceph, MinIO, versitygw, dCache, and others.

    The url names the server, a bucket that exists, and what all keys begin with: s3s://host:9000/bucket/prefix with
    TLS, s3://host:9000/bucket/prefix without (also https:// and http:// with `kind: s3`). With `endpoint` it is
    s3://bucket/prefix, as the tools of AWS write it.

    Credentials: `access_key` and `secret_key`, with `session_token` for temporary ones, or a `profile`; without them
    those of the environment ($AWS_ACCESS_KEY_ID, $AWS_SECRET_ACCESS_KEY, $AWS_SESSION_TOKEN), else those of the profile
    $AWS_PROFILE or `default` in ~/.aws/credentials and ~/.aws/config. `ca` as for kind `webdav`. Each request is signed
    (Signature Version 4).

    A folder is a prefix: it needs no making, and is there while something is in it. S3 has no rename: `storage.mkdir`
    and `storage.rename` are refused before a run. To delete what is not there passes. Checksums are those of S3,
    not Adler-32: `storage.copy` compares the one that the server states (CRC-32C, CRC-32 or SHA-256).
    """

    kind = "s3"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "files", "s3"})

    endpoint_: str | None = option(
        None, help="url of the server, such as https://s3.example.org: then the url is s3://BUCKET/PREFIX"
    )
    region: str | None = option(
        None, help="region of the signatures; default: $AWS_REGION, else that of the profile, else us-east-1"
    )
    addressing: Literal["path", "virtual"] = option(
        "path", help="where requests name the bucket: in the path, or in the name of the host (virtual)"
    )
    payload: Literal["auto", "signed", "unsigned"] = option(
        "auto",
        help="whether the content of objects is signed, which costs a SHA-256 of it; auto: with TLS it is not",
    )
    part_size: Size | None = option(
        None,
        ge=5 << 20,
        le=5 << 30,
        help="write larger objects in parts of this size (multipart upload); default: each in one request",
    )
    checksum: Literal["none", "crc32", "crc32c", "sha256"] = option(
        "none",
        help="checksum that is sent with each object (x-amz-checksum-*), which the server verifies, and that is "
        "compared when a whole object of known content is read",
    )
    anonymous: bool = option(False, help="sign nothing: for buckets that anybody may read")
    keep_alive: bool = option(True, help="keep connections open between requests; false: a new one for each")
    resume: bool = option(False, help="resume TLS sessions; false: a new connection makes the whole handshake")
    expect: Literal["auto", "never"] = option(
        "auto", help="ask before more than 1 MiB is sent (Expect: 100-continue), and wait at most 1 s; never: do not"
    )

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse what is not a url of an S3 server; whether a bucket is in it depends on `endpoint`."""
        place_of(url, "http://localhost" if url.count("/") <= 3 else None)

    @property
    def place(self) -> S3Place:
        """The url, taken apart. Raises TargetError for one that is not valid."""
        return place_of(self.url, self.endpoint_)

    def endpoint(self) -> tuple[str, int]:
        """Return host and port that are connected to."""
        place = self.place
        return place.host(virtual=self.addressing == "virtual"), place.server.port

    def keys(self) -> Keys | None:
        """Return who signs; None: nobody. Raises TargetError where there are no keys."""
        return None if self.anonymous else keys_of(self.credentials)

    def client(self) -> ClientSpec:
        """Return the engine's S3 client. The settings hold secrets."""
        return ClientSpec("s3", self._settings())

    def _settings(self) -> S3Settings:
        place, keys = self.place, self.keys()
        tls = place.server.scheme == "https"
        if not tls and (self.insecure or self.certificate_sha256):
            told = "`insecure` or `certificate_sha256` is given, and the url is without TLS"
            raise TargetError(told, "a url that begins with s3s://", "take them out, or correct the url")
        bare = self.credentials.model_copy(update=dict.fromkeys(KEY_WORDS))
        who = self.believing(identity_of(bare, place.server.host, secret=place.server.secret, tls=tls))
        signed = self.payload == "signed" or (self.payload == "auto" and not tls)
        return {
            "http": {
                "url": place.server.url,
                **self.route(),
                "keep_alive": self.keep_alive,
                "resume": self.resume,
                "expect": self.expect,
                "reconnect_pause": self.reconnect_pause,
                **who.to_native(),
            },
            "bucket": place.bucket,
            "prefix": place.prefix,
            "addressing": self.addressing,
            "region": region_of(self.credentials, self.region),
            "credentials": keys.to_native() if keys else None,
            "payload": "signed" if signed else "unsigned",
            "part_size": self.part_size,
            "checksum": None if self.checksum == "none" else self.checksum,
        }

    def problem_of(self, step: Step) -> str:
        """Return what S3 cannot do of a step."""
        size = step.content.size if step.content is not None and step.verb == "write" else 0
        lacks = (
            (step.traits.names is Names.TWO, RENAME),
            (step.verb == "mkdir" and not step.missing_ok, MKDIR),
            (step.checksum == "adler32" and step.verb != "checksum", ADLER32),
            (step.pieces > 1, "S3 answers one range in a request; expected one piece in a request"),
            (bool(step.read_ahead), "nothing can be asked for ahead over S3; expected no `read_ahead`"),
            (
                self.part_size is not None and size > MOST_PARTS * self.part_size,
                f"an upload has at most {MOST_PARTS} parts; expected a larger `part_size`",
            ),
        )
        return next((text for lack, text in lacks if lack), "") or super().problem_of(step)

    @cached_property
    def sessions(self) -> EngineSessions:
        """Sessions for Python tests, one for each thread."""
        return self._sessions(self.patience)

    def _sessions(self, patience: int) -> EngineSessions:
        return EngineSessions(self.client(), patience / 1e9)

    def probe(self) -> str:
        """Look at the bucket."""
        first = self._sessions(self.first_answer)
        try:
            with first.session(f"the bucket {self.place.bucket}") as session:
                name: bytes = session.query(NAME, "")
        except (Failed, Ambiguous) as problem:
            if not self.place.server.scheme == "https" and speaks_tls(*self.reach(), self.first_answer / 1e9):
                raise TargetError(
                    f"{self.url}: the server speaks TLS on this port, and the url is without",
                    "a url that begins with s3s://",
                ) from problem
            raise TargetError(
                f"{self.url} cannot be used: {problem.what}",
                "a bucket that can be listed",
                "is it up, is the url right? Of a server with hosts for buckets: `addressing: virtual`",
            ) from problem
        except Refused as problem:
            raise TargetError(
                f"{self.url}: access denied: {problem.what}", "access", "check the target's `credentials` and `region`"
            ) from problem
        finally:
            first.close()
        return f"{name.decode('ascii', 'replace') or 'an unnamed server'}, S3"

    def list(self, path: str) -> list[Entry]:
        """Return the entries of a prefix, sorted by name; of one with nothing in it none."""
        with self._about(path) as session:
            found = [Entry(name, size, bool(flags & FOLDER)) for name, size, flags, _ in session.list(path)]
        return sorted(found, key=lambda entry: entry.name)

    def stat(self, path: str) -> Entry:
        """Return what is at a path; a folder is what keys begin with."""
        with self._about(path) as session:
            size, flags, _ = session.stat(path)
        return Entry(path.rstrip("/").rpartition("/")[2], size, bool(flags & FOLDER))

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of an object in pieces of at most 8 MiB."""
        with self._about(path) as session:
            size, flags, _ = session.stat(path)
        if flags & FOLDER:
            raise Failed(f"{path!r} is a folder")
        offset = 0
        while offset < size:
            with self._about(path) as session:
                piece: bytes = session.read(path, offset, min(PIECE, size - offset))
            if not piece:
                raise Failed(f"{path!r} ended after {offset} of {size} bytes")
            yield piece
            offset += len(piece)

    def write(self, path: str, data: bytes) -> None:
        """Write a whole object."""
        with self._about(path) as session:
            session.write(path, data)

    def create(self, path: str, data: bytes) -> None:
        """Write an object where nothing is yet; a server that knows no `If-None-Match` is asked before, too."""
        try:
            self.stat(path)
        except NotThere:
            with self._about(path) as session:
                session.write(path, data, new=True)
            return
        raise ThereAlready(f"there is something at {path!r}")

    def delete(self, path: str) -> None:
        """Remove an object; of a folder with nothing in it the object that stands for it."""
        if not path.strip("/"):
            raise Refused(f"{path!r} is the target itself", "a path below it", "pileup does not remove it")
        if self.stat(path).folder:
            if entries := self.list(path):
                raise Failed(f"the folder {path!r} is not empty", "an empty one", f"it holds {entries[0].name!r}")
            path = path.strip("/") + "/"
        with self._about(path) as session:
            session.delete(path)

    def mkdir(self, path: str) -> None:
        """Do nothing: a prefix needs no making."""

    def end_uploads(self, path: str) -> int:
        """End uploads in parts below a folder that were begun and not ended; without `part_size` there are none."""
        if not self.part_size:
            return 0
        with self._about(path) as session:
            return int(session.query(END_UPLOADS, path))

    def _about(self, path: str) -> Any:
        return self.sessions.session(repr(path))
