"""A native test as data: frozen, neutral of any protocol. The engine turns it into operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from pileup.model.verbs import Makes, Names, Traits, Verb, traits_of

CHECKSUM = "checksum"
"""Operation of the tests that ask for the checksum of what they have copied."""
NOT_STATED = "checksum-not-stated"
"""Operation in its place where the server states none, as in the engine's iteration.rs."""
SIZES = 0x7369_7A65_7300_0000
"""Stream of the draws of sizes, as in the engine's program.rs."""
WORD = (1 << 64) - 1


def _mix(value: int) -> int:
    """Splitmix64's finalizer, as in the engine's draw.rs."""
    value = (value + 0x9E37_79B9_7F4A_7C15) & WORD
    value = (value ^ (value >> 30)) * 0xBF58_476D_1CE4_E5B9 & WORD
    value = (value ^ (value >> 27)) * 0x94D0_49BB_1331_11EB & WORD
    return value ^ (value >> 31)


def bits(seed: int, stream: int, k: int) -> int:
    """Return the k-th draw of a stream, 64 bits: the same number as the engine's."""
    return _mix((_mix(_mix(seed) ^ stream) + k * 0xD134_2543_DE82_EF95) & WORD)


@dataclass(frozen=True, slots=True)
class Keys:
    """Which object a step acts on: number `n` of `count` named `prefix + zero-padded n`, or one of `names`.

    `order`: "sequential" takes them in turn over all iterations, "random" draws (seeded) each time, "client" gives
    each client its own, by its number. "shared" takes them in turn too, but each client among a share of its own: no
    two clients act on the same one at a time, as long as there are as many objects as clients.
    """

    prefix: str = ""
    count: int = 1
    width: int = 6
    names: tuple[str, ...] = ()
    order: Literal["sequential", "random", "client", "shared"] = "sequential"
    suffix: str = ""
    """What follows each name."""
    folders: int = 0
    """In so many folders d000000, d000001, ... below that of `prefix`: object n in number n modulo this. 0: none."""

    def name(self, number: int) -> str:
        """Return the name of object `number`, 0 <= number < count."""
        if self.names:
            return self.names[number] + self.suffix
        above, slash, begin = self.prefix.rpartition("/")
        folder = f"{above}{slash}d{number % self.folders:06d}/{begin}" if self.folders else self.prefix
        return f"{folder}{number:0{self.width}d}{self.suffix}"

    @staticmethod
    def fixed(name: str) -> Keys:
        """One object, always the same."""
        return Keys(names=(name,))


@dataclass(frozen=True, slots=True)
class Content:
    """Known content: a function of (seed, object number, offset), made again for checking. Sizes in bytes."""

    seed: int = 1
    size: int = 0
    """Size of each object; with `sizes` the largest of them."""
    sizes: tuple[tuple[int, int], ...] = ()
    """Sizes of which one is drawn for each object, (weight, bytes); empty: all are `size`."""
    entropy: float = 1.0
    """How much of the content is random, 0 to 1: the rest is zeros, which can be compressed away."""

    def size_of(self, number: int) -> int:
        """Return the size of object `number`, bytes: the one that the engine draws."""
        total = sum(weight for weight, _ in self.sizes)
        if not total:
            return self.size
        drawn = bits(self.seed, SIZES, number) % total
        for weight, size in self.sizes:
            if drawn < weight:
                return size
            drawn -= weight
        return self.size


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
class Destination:
    """The second target of a step."""

    target: str
    """Its name in the suite."""
    keys: Keys
    """Names there: object `n` of the step's keys goes to number `n` of these."""
    pull: bool = False
    """Whether the second target fetches the object. False: the step's own target sends it."""
    streams: int | None = None
    """Streams that an object goes over; None: as many as the servers like."""


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
    """Read `length` bytes at a place drawn again each time (from client and turn): a multiple of `length` behind
    `offset`, within so many bytes of the object. None: at `offset`."""
    pieces: int = 0
    """With `span`: so many such pieces in one request, ascending (a vector read). 0: a piece in a request."""
    fraction: float | None = None
    """With `span`: this part of it is read, 0 to 1, in pieces of `length` spread over it, ascending. None: one
    request."""
    read_ahead: int | None = None
    """Bytes asked for before they are wanted, while an object is read in turn; 0: none. None: as the protocol, or the
    system, does by itself."""
    keep: bool = False
    """Whether the object stays open for the client's next operation on it, where the protocol opens objects."""
    buffer: int | None = None
    """Bytes moved at a time: a call on a file system, a range request over HTTP. None: as the protocol does by itself,
    1 MiB a call on a file system, the whole object in one request over HTTP."""
    verify: bool = True
    checksum: Literal["none", "adler32", "if stated"] = "none"
    """Which checksum goes with the content; "if stated", for verb "checksum" alone: a server without one passes, and
    the operation is recorded as NOT_STATED."""
    method: str = ""
    """HTTP method for verb "request"."""
    headers: tuple[tuple[str, str], ...] = ()
    expect: Expect = field(default_factory=Expect)
    missing_ok: bool = False
    """Whether an object that is not there passes (delete) or one that is there already (mkdir)."""
    cost_ns: int = 0
    """Time that a noop takes, waited without CPU."""
    to: str = ""
    """What the new name of a rename ends with."""
    new: bool = False
    """Of a write or a rename: whether nothing may be there under the name yet. False: what is there is replaced, which
    is for names in a folder of the run's own. The harness sets it for all others."""
    destination: Destination | None = None
    """Of a verb with a second target: which one, and under which names there. A `checksum` with one asks for that of
    the object there, and compares it with the known content, else with what the step's own target states."""

    @property
    def traits(self) -> Traits:
        """What it does, by the registry of verbs."""
        return traits_of(self.verb, self.method)

    @property
    def changes_here(self) -> bool:
        """Whether it changes something on its own target."""
        return self.traits.changes and self.traits.names is not Names.ELSEWHERE

    @property
    def made(self) -> Keys | None:
        """The names of what it makes on its own target; None when nothing is known to be made there."""
        traits = self.traits
        if traits.makes is Makes.NOTHING or traits.names is Names.ELSEWHERE:
            return None
        return replace(self.keys, suffix=self.to) if traits.names is Names.TWO else self.keys


@dataclass(frozen=True, slots=True)
class Program:
    """The steps of one iteration. A program of a single operation writes one row per iteration."""

    steps: tuple[Step, ...]
    repeat: int = 1
    """How often all of them are done in an iteration, each time with the next objects."""

    def to_native(self) -> dict[str, object]:
        """Return plain data for the engine and the journal, field by field as named here."""
        plain = asdict(self)
        for step in plain["steps"]:
            if step["destination"] is None:
                del step["destination"]
        return plain


@dataclass(frozen=True, slots=True)
class ClientSpec:
    """How the engine reaches a target: protocol (a name of its client table) and settings. Never recorded."""

    protocol: str
    settings: Mapping[str, object] = field(default_factory=dict, repr=False)
    others: Mapping[str, ClientSpec] = field(default_factory=dict, repr=False)
    """The clients of second targets, by their names in the suite."""
