"""Settings of the practice targets: servers of known truth (crates/pileup-practice)."""

from __future__ import annotations

import json
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, model_validator

from pileup.model.law import Law, TimeLaw
from pileup.model.quantities import Bandwidth, Count, Duration, Fraction, Rate, Size
from pileup.model.sizes import SizeLaw, Sizes
from pileup.model.suite_part import Part

SETTINGS = "PILEUP_PRACTICE_SETTINGS"
"""Variable with all settings as one mapping: a token among them is not for the list of processes."""
CLIENT, SECRET = "pileup", "open-sesame"
"""The client that a practice token issuer knows unless the settings name others: for practice, and no secret."""
Method = Annotated[str, StringConstraints(pattern=r"^[A-Z]{1,20}$")]


class Fault(Part):
    """Something that goes wrong on purpose. The first fault of the list that hits a request is the one it meets."""

    kind: Literal["stall", "refuse", "error", "ghost"] = Field(
        description="stall: no answer for a time; refuse: 503 at once; error: an error status; ghost: carried "
        "out, but answered late or never"
    )
    share: Fraction = Field(
        1.0, le=1, description="share of the requests that it applies to, drawn from the seed and the request's number"
    )
    at: Duration | None = Field(
        None,
        description="when it begins, after the start of the server; default: at the start",
    )
    for_: Duration | None = Field(
        None,
        alias="for",
        description="how long it lasts; default: to the end. For a stall without `at`, and a ghost: the delay "
        "of each answer (a ghost without `for` gives none)",
    )
    status: int = Field(500, ge=400, le=599, description="status of an error")
    methods: tuple[Method, ...] = Field((), description="methods that it applies to, e.g. [GET, PUT]; default: all")
    paths: tuple[str, ...] = Field(
        (), description="beginnings of the paths that it applies to, e.g. [/jobs]; default: all"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.kind == "ghost" and self.at is not None:
            raise ValueError("a ghost with `at`; expected `for: TIME` alone, how much later it is answered, or neither")
        if self.kind != "stall":
            return self
        if self.for_ is None:
            raise ValueError("a stall without an end; expected `for: TIME`, how long there is no answer")
        if self.at is not None and (self.share < 1 or self.methods or self.paths):
            raise ValueError(
                "a stall with `at` stops the whole server, but share, methods or paths are given; "
                "expected `at` and `for` alone, or share, methods and paths with `for` alone"
            )
        return self

    def to_native(self) -> dict[str, object]:
        """Return plain data for the server, times in nanoseconds."""
        return {
            "kind": self.kind,
            "share": self.share,
            "at": self.at,
            "for": self.for_,
            "status": self.status,
            "methods": list(self.methods),
            "paths": list(self.paths),
        }


class StorageFault(Fault):
    """Something that goes wrong on purpose. The first fault of the list that hits a request is the one it meets."""

    kind: Literal["stall", "refuse", "truncate", "wrong_byte", "error", "ghost", "error_in_202"] = Field(  # type: ignore[assignment]  # more of them
        description="stall: no answer for a time; refuse: 503 at once; truncate: the body ends in the middle, a "
        "third-party copy is broken off; wrong_byte: one byte of an object that is read or copied is changed; error: "
        "an error status; ghost: carried out, but answered late or never; error_in_202: a third-party copy fails in "
        "the middle, and the report in the answer of 202 says so"
    )


class S3Fault(Fault):
    """Something that goes wrong on purpose. The first fault of the list that hits a request is the one it meets."""

    kind: Literal["stall", "refuse", "truncate", "wrong_byte", "error", "ghost", "error_in_200", "broken_xml"] = Field(  # type: ignore[assignment]  # more of them
        description="stall: no answer for a time; refuse: 503 at once, SlowDown; truncate: the body ends in the "
        "middle; wrong_byte: one byte of an object that is read is changed; error: an error status; ghost: carried "
        "out, but answered late or never; error_in_200: an upload in parts is not ended, and the answer is 200 with "
        "an <Error> in it; broken_xml: an answer in XML lacks its end, though it is as long as it says"
    )


class Tls(Part):
    """Files that make a practice target speak TLS. All are PEM."""

    certificate: str = Field(min_length=1, description="file with the server's certificate chain")
    key: str = Field(min_length=1, description="file with the key of that certificate")
    client_ca: str | None = Field(
        None, description="file with the CA of the client certificates asked for; default: none is asked for"
    )


class ServerSettings(Part):
    """What all practice targets have in common."""

    host: str = Field("127.0.0.1", min_length=1, description="address to listen on")
    port: int = Field(0, ge=0, le=65535, description="port to listen on; 0: a free one")
    backlog: int = Field(
        4096,
        ge=1,
        le=2**31 - 1,
        description="connections that may wait to be accepted (listen(2)); the kernel's somaxconn is a bound of it",
    )
    threads: int = Field(16, ge=1, le=1_000_000, description="requests served at the same time")
    queue: int = Field(1000, ge=0, le=2**31, description="requests that may wait for that; beyond, the answer is 503")
    seed: int = Field(1, ge=0, lt=2**63, description="seed of everything random")
    log: str | None = Field(None, description="CSV file that says what was done to each request; default: none")
    tls: Tls | None = Field(None, description="speak TLS, with these files; default: plain HTTP")

    def common(self) -> dict[str, object]:
        """Return these as plain data for the server."""
        names = ("host", "port", "backlog", "threads", "queue", "seed", "log", "token", "keys", "audience")
        plain = {name: getattr(self, name) for name in names if name in type(self).model_fields}
        return plain | {"tls": self.tls.model_dump() if self.tls else None}

    def to_native(self) -> dict[str, object]:
        """Return plain data for the server, to be written as JSON: times in ns."""
        return self.common()


class GuardedSettings(ServerSettings):
    """What practice targets have in common that may ask for a token."""

    token: str | None = Field(
        None, min_length=1, repr=False, description="required bearer token; without it the answer is 401"
    )
    keys: str | None = Field(
        None,
        min_length=1,
        description="file with the keys (a JWK set) of a token issuer, read again when it changes: tokens that it has "
        "signed are asked for, unexpired, for the `audience` and with the scope of the WLCG profile; of a practice "
        "issuer launched as target NAME it is `../NAME/keys.json`",
    )
    audience: str | None = Field(None, description="for whom such tokens must be; default: for any server")

    @model_validator(mode="after")
    def _one_way_in(self) -> Self:
        if self.token is not None and self.keys is not None:
            raise ValueError("a token and keys are given; expected one of them")
        return self


class StorageSettings(GuardedSettings):
    """Settings of the practice storage, an HTTP/WebDAV server.

    A request waits in the order of arrival for one of `threads` slots and holds it for a service time drawn for its
    number; then its body or that of its answer moves at the bandwidth.
    """

    service: TimeLaw = Field(
        Law(fixed=0), description="time for which a request holds its slot, e.g. `20 ms` or `{lognormal: [20 ms, 0.5]}`"
    )
    bandwidth: Bandwidth | None = Field(
        None, ge=1000, description="of all bodies together, in and out; default: unlimited"
    )
    capacity: Size = Field(2**30, description="bytes kept in memory; beyond, the answer is 507")
    markers: Duration = Field(10**9, ge=10**6, description="time between two performance markers of a third-party copy")
    pool_threads: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="threads of the request pool, which takes requests without data (WLCG Tape REST API, `open` and "
        "`close`); default: there is no pool, and the other settings of it have no effect",
    )
    pool_fast_threads: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="threads of fast operations alone (each call of the API); default: they share `pool_threads` with "
        "the slow ones",
    )
    pool_fast: TimeLaw = Field(Law(fixed=0), description="time for which a fast operation holds a thread of the pool")
    pool_slow: TimeLaw = Field(
        Law(fixed=0),
        description="time for which a slow operation, which makes a file ready, holds a thread",
    )
    pool_switch: Duration = Field(
        0, description="time between the fast operation that takes a request and the slow ones of its files"
    )
    pool_folder_lock: bool = Field(
        False, description="whether slow operations in one folder exclude each other; who waits keeps its thread"
    )
    faults: tuple[StorageFault, ...] = Field((), description="faults to inject")

    def to_native(self) -> dict[str, object]:
        """Return plain data for `PracticeStorage` (as JSON): times in ns, sizes in bytes, bandwidth in bytes/s."""
        return self.common() | {
            "bandwidth": self.bandwidth,
            "capacity": self.capacity,
            "markers": self.markers,
            "service": self.service.to_native(),
            "pool": None
            if self.pool_threads is None
            else {
                "threads": self.pool_threads,
                "fast_threads": self.pool_fast_threads,
                "fast": self.pool_fast.to_native(),
                "slow": self.pool_slow.to_native(),
                "switch": self.pool_switch,
                "folder_lock": self.pool_folder_lock,
            },
            "faults": [fault.to_native() for fault in self.faults],
        }


class S3Settings(ServerSettings):
    """Settings of the practice S3.

    A request waits in the order of arrival for one of `threads` slots and holds it for a service time drawn for its
    number; then its signature is checked, and its body or that of its answer moves at the bandwidth.
    """

    service: TimeLaw = Field(
        Law(fixed=0), description="time for which a request holds its slot, e.g. `20 ms` or `{lognormal: [20 ms, 0.5]}`"
    )
    bandwidth: Bandwidth | None = Field(
        None, ge=1000, description="of all bodies together, in and out; default: unlimited"
    )
    capacity: Size = Field(2**30, description="bytes kept in memory; beyond, the answer is 507")
    buckets: tuple[Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")], ...] = Field(
        ("pileup",), description="buckets that are there"
    )
    region: str = Field("us-east-1", min_length=1, description="region that signatures must be for")
    access_key: str | None = Field(
        CLIENT, min_length=1, description="key that may come in; null: anybody may, unsigned"
    )
    secret_key: SecretStr = Field(SecretStr(SECRET), description="secret of the key; default: `open-sesame`")
    session_tokens: dict[str, Duration] = Field(
        {}, description="session tokens, one of which a request must have, and how long after the start each is good"
    )
    clock_ahead: Duration = Field(
        0, description="how far its clock is ahead of the machine's: beyond 15 min it refuses all requests"
    )
    clock_behind: Duration = Field(0, description="the same, behind")
    page: int = Field(1000, ge=1, le=1000, description="most entries of a page of a listing")
    domain: str = Field("localhost", min_length=1, description="hosts BUCKET.DOMAIN name a bucket")
    faults: tuple[S3Fault, ...] = Field((), description="faults to inject")

    def to_native(self) -> dict[str, object]:
        """Return plain data for `PracticeS3` (as JSON): times in ns, sizes in bytes, bandwidth in bytes/s."""
        plain = ("bandwidth", "capacity", "region", "access_key", "session_tokens", "page", "domain")
        return (
            self.common()
            | {name: getattr(self, name) for name in plain}
            | {"buckets": list(self.buckets), "secret_key": self.secret_key.get_secret_value()}
            | {"clock_ahead": self.clock_ahead - self.clock_behind, "service": self.service.to_native()}
            | {"faults": [fault.to_native() for fault in self.faults]}
        )


class BatchSettings(GuardedSettings):
    """Settings of the practice batch system.

    Jobs wait in the order of submission for one of `slots`; the scheduler begins them at its cycles, and they run for
    the time they were submitted with.
    """

    slots: int = Field(100, ge=0, le=10_000_000, description="jobs that run at the same time")
    cycle: Duration = Field(10**9, description="jobs begin at multiples of this after the start; 0: at once")
    limit: Count = Field(200_000, description="most jobs queued and running; beyond, submissions are refused")
    user_limit: Count | None = Field(
        None,
        description="most jobs of a user that are not purged; beyond, submissions are refused, as where each job has a "
        "folder in one of its user: ext3 allows 31,998 there; default: any",
    )
    rate: Rate | None = Field(None, gt=0, description="most jobs submitted per second; default: any")
    failing: Fraction = Field(0.0, le=1, description="share of the jobs that fail")
    checkpoint: Duration = Field(
        5 * 10**9,
        description="how often all submissions are made safe against a crash; 0: each before it is acknowledged",
    )
    loss: Fraction = Field(1.0, le=1, description="share of the submissions since then that a crash forgets")
    reuse_ids: bool = Field(False, description="after a crash, reuse ids that were given since then")
    keep: Duration | None = Field(
        None, description="how long jobs that have ended stay in the queue; default: until they are purged"
    )
    history: Count = Field(1_000_000, description="jobs that the accounting remembers after their end")
    submit_cost: TimeLaw = Field(
        Law(fixed=0), description="how long a submission occupies the server, however many jobs it names"
    )
    status_cost: TimeLaw = Field(Law(fixed=0), description="the same for a query of jobs")
    purge_cost: TimeLaw = Field(Law(fixed=0), description="the same for a cancel or a purge")
    delegate_cost: TimeLaw = Field(
        Law(fixed=0), description="the same for a delegation, its renewal or end, and for a new user"
    )
    users: tuple[Annotated[str, StringConstraints(min_length=1, max_length=250)], ...] = Field(
        (), description="who may submit jobs and credentials, besides those registered later; default: anyone"
    )
    faults: tuple[Fault, ...] = Field((), description="faults to inject")
    jobs: str | None = Field(
        None,
        description="CSV file that says what happened to each job; a server that finds one continues where it ends; "
        "default: none, and everything is forgotten at the end",
    )

    def to_native(self) -> dict[str, object]:
        """Return plain data for `PracticeBatch` (as JSON): times in ns, rate per second."""
        rules = ("slots", "cycle", "limit", "user_limit", "rate", "failing", "checkpoint", "loss", "reuse_ids", "keep")
        costs = ("submit_cost", "status_cost", "purge_cost", "delegate_cost")
        return (
            self.common()
            | {name: getattr(self, name) for name in (*rules, "history", "jobs")}
            | {name: getattr(self, name).to_native() for name in costs}
            | {"faults": [fault.to_native() for fault in self.faults], "users": list(self.users)}
        )


class IssuerSettings(ServerSettings):
    """Settings of the practice token issuer, OAuth 2.0 (RFC 6749) with tokens of the WLCG profile, signed with ES256.

    A request for a token waits in the order of arrival for one of `threads` slots and holds it for the service time.
    """

    service: TimeLaw = Field(
        Law(fixed=0), description="time for which a request for a token holds its slot, e.g. `{exponential: 20 ms}`"
    )
    clients: dict[str, SecretStr] = Field(
        {CLIENT: SecretStr(SECRET)},
        min_length=1,
        description="the clients and their secrets; default: `pileup` with the secret `open-sesame`",
    )
    lifetime: TimeLaw = Field(
        Law(fixed=3600 * 10**9),
        description="how long an access token is good for; in whole seconds, at least one",
    )
    refresh_lifetime: Duration = Field(86400 * 10**9, gt=0, description="how long a refresh token is good for")
    rotate: bool = Field(True, description="a refresh token is good for one use, and comes with the next one")
    scope: str = Field(
        "storage.read:/ storage.create:/ storage.modify:/ storage.stage:/",
        description="what a client may have, and has that does not say what it wants",
    )
    token_audience: str = Field(
        "https://wlcg.cern.ch/jwt/v1/any",
        min_length=1,
        description="for whom a token is, where the client does not say",
    )
    rate: Rate | None = Field(None, gt=0, description="most tokens per second; beyond, the answer is 429; default: any")
    iss: str | None = Field(
        None, min_length=1, description="issuer that the tokens name; default: the address that was asked"
    )
    public_keys: str | None = Field(
        None, description="file for the keys that prove its tokens (a JWK set); new ones at each start"
    )
    faults: tuple[Fault, ...] = Field((), description="what goes wrong on purpose")

    def to_native(self) -> dict[str, object]:
        """Return plain data for `PracticeIssuer` (as JSON): times in ns, rate per second. Holds secrets."""
        plain = ("refresh_lifetime", "rotate", "scope", "token_audience", "rate", "iss", "public_keys")
        return (
            self.common()
            | {name: getattr(self, name) for name in plain}
            | {"service": self.service.to_native(), "lifetime": self.lifetime.to_native()}
            | {"clients": {name: secret.get_secret_value() for name, secret in self.clients.items()}}
            | {"faults": [fault.to_native() for fault in self.faults]}
        )


class DriveDown(Part):
    """A time in which a drive of a tape library is down. What it was reading is read again, by another or later."""

    drive: int = Field(ge=0, description="number of the drive, from 0")
    at: Duration = Field(0, description="when it goes down, library time after the start of the server")
    for_: Duration = Field(gt=0, alias="for", description="how long it is down")

    def to_native(self) -> dict[str, int]:
        """Return plain data for the server, times in nanoseconds."""
        return {"drive": self.drive, "from": self.at, "lasts": self.for_}


class LibrarySettings(Part):
    """A tape library: drives, cartridges, a robot, and what goes wrong on purpose.

    A file is read by a drive that has its cartridge: the robot brings the one before back (`dismount`), mounts the
    other one (`mount`), the drive winds to the file (`seek`) and reads it at its `speed`.
    """

    drives: int = Field(4, ge=1, le=10_000, description="tape drives")
    cartridges: int = Field(
        100, ge=1, le=10**6, description="cartridges; which one has a file, or a folder, is drawn from the seed"
    )
    arms: int = Field(1, ge=1, le=10_000, description="cartridges that the robot moves at the same time")
    order: Literal["cartridge", "fifo"] = Field(
        "cartridge",
        description="cartridge: a drive serves all that waits for the cartridge in it, then the cartridge that was "
        "wanted first; fifo: the oldest request first",
    )
    mount: TimeLaw = Field(Law(fixed=60 * 10**9), description="time to bring a cartridge into a drive")
    dismount: TimeLaw = Field(Law(fixed=30 * 10**9), description="time to bring the cartridge back that is in it")
    seek: TimeLaw = Field(Law(uniform=(0, 90 * 10**9)), description="time to wind the tape to a file")
    speed: Bandwidth = Field(100e6, gt=0, description="of each drive, e.g. `300 MB/s`")
    unreadable: tuple[int, ...] = Field((), description="numbers of cartridges, from 0, that cannot be read")
    lost: Fraction = Field(0.0, le=1, description="share of the files handed to the library that it forgets")
    silent: tuple[int, ...] = Field(
        (), description="files that the library never serves: the n-th that it was handed, from 0"
    )
    down: tuple[DriveDown, ...] = Field((), description="when drives are down")

    @model_validator(mode="after")
    def _there_are_such(self) -> Self:
        for number in self.unreadable:
            if not 0 <= number < self.cartridges:
                raise ValueError(f"unreadable has cartridge {number}; expected 0 to {self.cartridges - 1}")
        for each in self.down:
            if each.drive >= self.drives:
                raise ValueError(f"down has drive {each.drive}; expected 0 to {self.drives - 1}")
        if any(number < 0 for number in self.silent):
            raise ValueError("silent has a negative number; expected numbers from 0")
        return self

    def rules(self, seed: int) -> str:
        """Return what the library takes (crates/pileup-tape), as JSON: times in ns, speed in bytes/s."""
        plain = ("drives", "cartridges", "arms", "order", "speed", "unreadable", "lost", "silent")
        laws = {name: getattr(self, name).to_native() for name in ("mount", "dismount", "seek")}
        down = [each.to_native() for each in self.down]
        return json.dumps({name: getattr(self, name) for name in plain} | laws | {"down": down, "seed": seed})


class TapeSettings(GuardedSettings, LibrarySettings):
    """Settings of the practice tape library, which speaks the WLCG Tape REST API, and of its machine in virtual time.

    A file that is wanted on disk waits at the stager of a worker node until fewer than `max_transfers` of that node are
    at the library, then at the library for a drive, for the robot to bring its cartridge, and for the tape to be wound;
    then it is read. All times but `service` are library time, which runs `speed_up` times faster than real time.
    """

    speed_up: float = Field(1.0, ge=0.001, le=1e6, description="library time runs so many times faster than real time")
    files: Count = Field(10_000, le=10**8, description="files on tape; their names are PREFIX/0000000 and so on")
    prefix: str = Field("/tape", pattern=r"^(/[^/]+)+$", description="folder of these files")
    size: Sizes = Field(
        SizeLaw(fixed=10**9), description="bytes of a file, e.g. `2 GB`, or drawn: `{lognormal: [1 GB, 0.5]}`"
    )
    together: int = Field(
        0,
        ge=0,
        le=10**8,
        description="files of a folder, which lie on one cartridge: PREFIX/0000000/0000000 and so on; 0: no folders, "
        "and the cartridge of each file is drawn",
    )
    nodes: int = Field(1, ge=1, le=100_000, description="worker nodes, each with a stager of its own")
    max_transfers: int = Field(
        0, ge=0, le=10**6, description="files that a stager hands to the library at a time; others wait; 0: any number"
    )
    keep: Duration = Field(0, description="how long a file stays on disk that nobody needs any more")
    most: int = Field(10_000, ge=1, le=10**6, description="most files of one request; beyond, the answer is 413")
    service: TimeLaw = Field(Law(fixed=0), description="real time for which a request of the API holds its slot")
    sitename: str = Field("pileup-practice", min_length=1, description="what it calls itself to those who look for it")
    faults: tuple[Fault, ...] = Field((), description="faults to inject into requests")
    events: str | None = Field(
        None, description="CSV file that says what happened to each file, in both times; default: none"
    )

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.size.mix is not None:
            raise ValueError("size has a mix; expected a size, or one drawn from uniform or lognormal")
        return self

    def to_native(self) -> dict[str, object]:
        """Return plain data for `PracticeTape` (as JSON): times in ns, sizes in bytes, speed in bytes/s."""
        plain = (
            "speed_up",
            "files",
            "prefix",
            "together",
            "nodes",
            "max_transfers",
            "keep",
            "most",
            "sitename",
            "events",
        )
        return (
            self.common()
            | dict(json.loads(self.rules(self.seed)))
            | {name: getattr(self, name) for name in plain}
            | {"service": self.service.to_native(), "size": self.size.model_dump(exclude_none=True)}
            | {"faults": [fault.to_native() for fault in self.faults]}
        )
