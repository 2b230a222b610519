"""A native test as data: frozen, neutral of any protocol. The engine turns it into operations."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Verb = Literal["noop", "request", "write", "read", "stat", "list", "delete", "mkdir"]


@dataclass(frozen=True, slots=True)
class Keys:
    """Which object a step acts on: number `n` of `count` named `prefix + zero-padded n`, or one of `names`.

    `order`: "sequential" takes them in turn over all iterations, "random" draws (seeded) anew each time.
    """

    prefix: str = ""
    count: int = 1
    width: int = 6
    names: tuple[str, ...] = ()
    order: Literal["sequential", "random"] = "sequential"

    def name(self, number: int) -> str:
        """Return the name of object `number`, 0 <= number < count."""
        return self.names[number] if self.names else f"{self.prefix}{number:0{self.width}d}"

    @staticmethod
    def fixed(name: str) -> Keys:
        """One object, always the same."""
        return Keys(names=(name,))


@dataclass(frozen=True, slots=True)
class Content:
    """Known content: a function of (seed, object number, offset), made anew for checking. Sizes in bytes."""

    seed: int = 1
    size: int = 0


@dataclass(frozen=True, slots=True)
class Expect:
    """What an answer must be, else the operation has failed."""

    statuses: tuple[int, ...] = ()
    """HTTP statuses that pass; empty: any 2xx."""
    contains: str | None = None
    """Text that must occur in the first MiB of the answer."""
    entries: int | None = None
    """Number of entries of a listing."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of an iteration, done `repeat` times with successive keys."""

    operation: str
    verb: Verb
    keys: Keys = field(default_factory=Keys)
    repeat: int = 1
    content: Content | None = None
    """What is written, or what a read must give; None: empty body, nothing verified."""
    offset: int = 0
    length: int | None = None
    """Bytes to read from `offset`; None: to the end."""
    span: int | None = None
    """Read `length` bytes at a place drawn anew each time (from client and turn): a multiple of `length` behind
    `offset`, within so many bytes of the object. None: at `offset`."""
    buffer: int | None = None
    """Bytes moved at a time: a call on a file system, a range request over HTTP. None: as the protocol does by itself,
    1 MiB a call on a file system, the whole object in one request over HTTP."""
    verify: bool = True
    checksum: Literal["none", "adler32"] = "none"
    method: str = ""
    """HTTP method for verb "request"."""
    headers: tuple[tuple[str, str], ...] = ()
    expect: Expect = field(default_factory=Expect)
    missing_ok: bool = False
    """Whether an object that is not there passes (delete) or one that is there already (mkdir)."""
    cost_ns: int = 0
    """Time that a noop takes, waited without CPU."""


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of one iteration. A program of a single step with repeat 1 writes one row per iteration."""

    steps: tuple[Step, ...]

    def to_native(self) -> dict[str, Any]:
        """Return plain data for the engine, field by field as named here."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ClientSpec:
    """What a target tells the engine: protocol (a name of its client table) and settings. Never recorded."""

    protocol: Literal["noop", "posix", "http"]
    settings: dict[str, Any] = field(default_factory=dict, repr=False)
