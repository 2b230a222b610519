"""Settings of the practice targets: servers of known truth (crates/pileup-practice)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from pileup.model.law import Law, TimeLaw
from pileup.model.quantities import Bandwidth, Duration, Fraction, Size
from pileup.model.suite import Part

Method = Annotated[str, StringConstraints(pattern=r"^[A-Z]{1,20}$")]


class StorageFault(Part):
    """Something that goes wrong on purpose. The first fault of the list that hits a request is the one it meets."""

    kind: Literal["stall", "refuse", "truncate", "wrong_byte", "error"] = Field(
        description="stall: no answer for a time; refuse: 503 at once; truncate: the body ends in the middle; "
        "wrong_byte: one byte of an object that is read is another; error: a status that says so"
    )
    share: Fraction = Field(
        1.0, le=1, description="share of the requests that meet it, drawn from the seed and the request's number"
    )
    at: Duration | None = Field(
        None,
        description="begin of the time in which it is there, after the start of the server; default: from the start",
    )
    for_: Duration | None = Field(
        None,
        alias="for",
        description="how long it is there, default: to the end; "
        "of a stall without `at`: how long each request it hits gets no answer",
    )
    status: int = Field(500, ge=400, le=599, description="status of an error")
    methods: tuple[Method, ...] = Field((), description="methods that it hits, e.g. [GET, PUT]; default: all")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.kind != "stall":
            return self
        if self.for_ is None:
            raise ValueError("a stall without an end; expected `for: TIME`, how long there is no answer")
        if self.at is not None and (self.share < 1 or self.methods):
            raise ValueError(
                "a stall with `at` stops the whole server, but share or methods are given; "
                "expected `at` and `for` alone, or share and methods with `for` alone"
            )
        return self

    def to_native(self) -> dict[str, Any]:
        """Return plain data for the server, times in nanoseconds."""
        return {
            "kind": self.kind,
            "share": self.share,
            "at": self.at,
            "for": self.for_,
            "status": self.status,
            "methods": list(self.methods),
        }


class StorageTls(Part):
    """Files that make the practice storage speak TLS. All are PEM."""

    certificate: str = Field(min_length=1, description="file with the server's certificate chain")
    key: str = Field(min_length=1, description="file with the key of that certificate")
    client_ca: str | None = Field(
        None, description="file with the CA of the client certificates asked for; default: none is asked for"
    )


class StorageSettings(Part):
    """Settings of the practice storage, an HTTP/WebDAV server.

    A request waits in the order of arrival for one of `threads` slots and holds it for a service time drawn for its
    number; then its body or that of its answer moves at the bandwidth.
    """

    host: str = Field("127.0.0.1", min_length=1, description="address to listen on")
    port: int = Field(0, ge=0, le=65535, description="port to listen on; 0: a free one")
    threads: int = Field(16, ge=1, le=1_000_000, description="slots: requests served at the same time")
    queue: int = Field(1000, ge=0, le=2**31, description="requests that may wait for a slot; beyond, the answer is 503")
    service: TimeLaw = Field(
        Law(fixed=0), description="time for which a request holds its slot, e.g. `20 ms` or `{lognormal: [20 ms, 0.5]}`"
    )
    bandwidth: Bandwidth | None = Field(
        None, ge=1000, description="of all bodies together, in and out; default: unlimited"
    )
    capacity: Size = Field(2**30, description="bytes kept in memory; beyond, the answer is 507")
    seed: int = Field(1, ge=0, lt=2**63, description="what service times and faults are drawn from")
    faults: tuple[StorageFault, ...] = Field((), description="what goes wrong on purpose")
    log: str | None = Field(None, description="CSV file that tells what was done to each request; default: none")
    tls: StorageTls | None = Field(None, description="speak TLS, with these files; default: plain HTTP")
    token: str | None = Field(
        None, min_length=1, repr=False, description="bearer token to ask for; without it the answer is 401"
    )

    def to_native(self) -> dict[str, Any]:
        """Return plain data for `PracticeStorage` (as JSON): times in ns, sizes in bytes, bandwidth in bytes/s."""
        names = ("host", "port", "threads", "queue", "bandwidth", "capacity", "seed", "log", "token")
        plain = {name: getattr(self, name) for name in names}
        return plain | {
            "service": self.service.to_native(),
            "faults": [fault.to_native() for fault in self.faults],
            "tls": self.tls.model_dump() if self.tls else None,
        }
