"""Types of the compiled module (crates/pileup-py). Times are integer nanoseconds."""

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Literal, Self, final

from pileup.model.record import Labels

EndingWord = Literal["finished", "stopped", "limit", "unreadable", "engine"]

DEBUG: bool
"""Whether this is a debug build, whose figures are not to be trusted."""
SOURCE_HASH: str
"""SHA-256 over the Rust sources it was built from (see Makefile)."""
VERSION: str
ENDINGS: list[str]
"""All words of `Press.ending`; those of `pileup.model.ending.EndingKind` are these and those that places add."""
VERBS: dict[str, tuple[bool, bool, str, str, str]]
"""The engine's registry of verbs: changes, deletes, names, moves, makes, as in `pileup.model.verbs`."""

def now() -> int:
    """Nanoseconds since the epoch, from the monotonic clock and one UTC offset taken when the module was loaded."""

def shift_clock(ns: int) -> None:
    """Move this process's clock for good, by so many ns beyond what it was moved before: all that the engine reads,
    gives or waits for. What waits already keeps its instant, so do it while no load is under way.
    """

@final
class Histogram:
    """HDR histogram, 3 digits, 1 ns to 2 days; merging is exact."""

    def __new__(cls) -> Self: ...
    @staticmethod
    def decode(data: bytes) -> Histogram:
        """Read HDR V2 bytes; ValueError when they are none."""
    def encode(self) -> bytes: ...
    def record(self, value: int, count: int = 1) -> None: ...
    def merge(self, data: bytes) -> None:
        """Add an encoded histogram; empty bytes add nothing."""
    def add(self, other: Histogram) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def min(self) -> int: ...
    @property
    def max(self) -> int: ...
    @property
    def mean(self) -> float: ...
    def quantile(self, share: float) -> int:
        """Highest value equivalent to the one at this share, never above `max`; 0 when empty."""
    def at_rank(self, rank: int) -> int:
        """Value of the rank-th smallest (1 is the smallest), for intervals of quantiles."""
    def share_at(self, value: int) -> float:
        """Share of recorded values at or below this one."""
    def bins(self) -> tuple[list[int], list[int], list[int]]:
        """Non-empty bins as (lowest value, highest value, count), in order."""

@final
class Recorder:
    """Writes operations of one place into a table file (docs/record.md); one thread of its own, blocks each second."""

    def __new__(cls, path: str, place: int) -> Self: ...
    @property
    def rows(self) -> int:
        """Rows written so far."""
    def ledger(self) -> Ledger:
        """The one ledger of this recorder. Close it before the recorder."""
    def flush(self) -> None:
        """Bring all rows handed over so far into the file."""
    def close(self) -> None: ...

@final
class Ledger:
    """Asynchronous operations, open at one place over all its cases (plugin.Ledger).

    Begun by `Op.begin` under a name and a key, each becomes one row when it ends. Times are ns since the epoch, None:
    now; nothing ends before it began.
    """

    def end(
        self,
        name: str,
        key: str,
        outcome: int = 0,
        end: int | None = None,
        error: str = "",
        *,
        bytes: int = 0,
        cause: int = 0,
    ) -> bool:
        """End one; False when none is open. ValueError for a number that is no outcome, or no model.cause.Cause."""
    def end_many(self, name: str, ends: Sequence[tuple[str, int, int | None, str]], *, cause: int = 0) -> int:
        """End several for one cause, each (key, outcome, end, error); return how many were open."""
    def turn(self, name: str, key: str, to: str, at: int | None = None) -> bool:
        """End one as passed and begin `to` in its place, of the same iteration. False when that cannot be."""
    def open(self, name: str = "") -> int:
        """How many are open, of all names when none is given."""
    def keys(self, name: str, most: int | None = None) -> list[str]:
        """Keys of what is open, oldest first."""
    def since(self, name: str, key: str) -> int | None:
        """When one began; None when none is open."""
    def frames(self) -> list[dict[str, Any]]:
        """One {"case", "in_flight", "rows"} (rows as in Press.frame) for every case with news since the last call."""
    def close(self) -> None:
        """Record what is open as unfinished; nothing begins any more."""

@final
class Load:
    """What a load (JSON, docs/engine.md) comes to, by the arithmetic by which it is pressed.

    Times are ns after its start. ValueError for what is no load.
    """

    def __new__(cls, load: str) -> Self: ...
    @property
    def end(self) -> int | None:
        """When nothing more begins; None where no time says."""
    @property
    def spans(self) -> list[tuple[int, int]]:
        """What is measured of a load of several levels, (begin, end) after the begin of the first; else empty.

        Pauses and ramps are left out, neighbours are one.
        """
    @property
    def asked(self) -> float | None:
        """Iterations per second that an open load asks for, in the mean over what is measured; None where its levels
        do not say.
        """
    @property
    def iterations(self) -> int | None:
        """The most iterations that begin, Poisson arrivals practically never exceed it; None where only the system
        bounds them.
        """
    @property
    def most_clients(self) -> int | None:
        """The most clients at a time; None where an open load does not say."""
    def longest(self, patience: int, pause: int) -> int | None:
        """The longest time it may take (ns), where an iteration takes at most `patience` and the pause after it
        `pause`; None where nothing bounds it.
        """
    def phase(self, time: int) -> int:
        """Phase of an iteration that is due at this time."""
    @property
    def number_here(self) -> int | None:
        """Iterations of its shard, where a number bounds them."""
    @property
    def numbers_here(self) -> tuple[int, int] | None:
        """Which iterations are its shard's, (first, step); None when it begins nothing."""
    @property
    def used_workers(self) -> int:
        """How many of its workers it takes at its place. ValueError for a load that cannot be pressed."""
    def birth(self, client: int) -> int | None:
        """When a client of a closed load begins; None: never."""
    def think(self, client: int, turn: int) -> int:
        """How long a client pauses after its iteration number `turn`, from 0, ns."""
    def wanted(self, client: int, time: int) -> int | None:
        """The first time from `time` on at which the load needs a client; None when it does not any more."""
    def schedule(self, limit: int) -> list[tuple[int, int, int]]:
        """The first `limit` intended starts of an open load as (iteration, time, phase).

        ValueError for one that is not open, or cannot be pressed.
        """

@final
class Press:
    """One load of one case at one place: the pull state machine with its recorder.

    `load` is JSON (docs/engine.md). Exactly one executor pulls from it: `native`, threads over `spawn`/`seat`,
    or asyncio over `fileno`/`ready`.
    """

    def __new__(cls, recorder: Recorder, load: str) -> Self: ...
    def native(self, client: str, program: str) -> None:
        """Start native workers with a client (JSON of ClientSpec) on a program (JSON of Program); returns at once.

        ValueError for a client or program that the engine does not know.
        """
    def name_single(self, name: str) -> None:
        """Say that every iteration is one operation of this name: a `with op(name)` block adds no row of its own then.

        Before the first iteration ends; its object, first byte, bytes and calls are in the row of the iteration.
        """
    def judge_by(self, judge: Callable[[BaseException], tuple[int, str]]) -> None:
        """Have this decide outcome and message of operations whose block raises; it raises nothing itself.

        The first one given counts; without any it is `pileup.plugin.verdict.verdict_on`.
        """
    def early(self) -> list[int]:
        """Numbers of the clients that are to be set up before the load begins."""
    def spawn(self) -> int | None:
        """Block until one more client is wanted and return its number; None when no more will be."""
    def seat(self, client: int) -> Seat: ...
    def fileno(self) -> int:
        """A descriptor that is readable when `ready` has something to give or the load has ended."""
    def ready(self) -> list[tuple[int, Op]]:
        """Starts that are due now as (client, iteration), never blocks. A number not seen before is a new client."""
    @property
    def over(self) -> bool:
        """No more iterations will start and none is under way."""
    @property
    def ending(self) -> tuple[EndingWord, str]:
        """How it ended, and why: ("limit", "1000 errors in a row"); ("finished", "") when it went on to its end, and
        before.
        """
    def set_level(self, level: float, at: int = 0) -> None:
        """Change the level of a steered load, of the whole of it: clients (rounded) or iterations per second.

        It holds from `at` on (ns since the epoch; 0: now). The arrivals of an open load go on without a jump: the
        integral of the rate does. ValueError for a load that is not steered, or a level out of its bounds.
        """
    def stop(self, now: bool) -> None:
        """Start nothing more; with `now` also record what is under way as unfinished and end."""
    def wait(self, timeout: float, give_up: Callable[[], None] | None = None) -> bool:
        """Block up to `timeout` seconds until over; True when it is.

        What is still under way a timeout after nothing more began is unfinished then; `give_up` is called before.
        """
    def frame(self) -> dict[str, Any]:
        """What happened since the last call: the fields of model.record.Frame but `time`, `place`, `case`, `cpu`."""

@final
class Seat:
    """The place of one client thread."""

    @property
    def under_way(self) -> Op | None:
        """Its last iteration, until it asks for the next one."""

    def next(self) -> Op | None:
        """Report the previous iteration as ended and block (without the GIL) until the next start; None at the end."""

@final
class Op:
    """One iteration under way, as a Python test sees it (plugin.Op)."""

    @property
    def number(self) -> int: ...
    @property
    def client(self) -> int: ...
    @property
    def intended(self) -> int: ...
    @property
    def start(self) -> int: ...
    bytes: int
    calls: int
    @property
    def operation(self) -> str | None:
        """Name of the operation that is open in it: of several the one that began last."""
    def __call__(self, name: str, key: str = "", *, labels: Labels | None = None) -> Operation: ...
    def check(self, name: str, ok: object) -> bool:
        """Count a check as an operation `check.NAME` of no length. ValueError for a name that no suite can name."""
    def begin(self, name: str, key: str, start: int | None = None) -> None:
        """Open an operation that outlives the iteration. ValueError when one of that name and key is open already."""
    def record(
        self,
        name: str,
        key: str = "",
        *,
        start: int,
        end: int | None = None,
        outcome: int = 0,
        bytes: int = 0,
        calls: int = 0,
        first_byte: int = 0,
        error: str = "",
        labels: Labels | None = None,
    ) -> None:
        """Record an operation that somebody else has timed, in this iteration. Times in ns since the epoch."""
    def conclude(self, limit: int) -> int:
        """End the iteration as passed, unless it took longer than `limit`: by how many ns then, else 0.

        For executors whose client asks for its next start (`Seat.next`, `Press.ready`) right after.
        """
    def finish(self, outcome: int, error: str = "", cause: int = 0) -> bool:
        """End the iteration; False when it has ended. Numbers are of model.record.Outcome and model.cause.Cause.

        Later operations are refused.
        """

@final
class Operation:
    bytes: int
    calls: int
    def first_byte(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> bool: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None: ...

@final
class Steps:
    """What the steps of a program (JSON of Program) come to, for clients in Python: as in the engine.

    `seed` is the load's, `clients` is how many it has at most. Steps are counted from 0; ValueError for content of a
    step that has none.
    """

    def __new__(cls, program: str, seed: int, clients: int = 1) -> Self: ...
    def object(self, step: int, iteration: int, client: int, turn: int) -> tuple[int, str]:
        """Number and name of the object that a step acts on, the `turn`-th time in this iteration of this client."""
    def renamed(self, step: int, key: str) -> str:
        """The new name of a rename."""
    def destination(self, step: int, number: int) -> str | None:
        """Name of an object on the second target; None where the step has none."""
    def sums(self, step: int) -> bool:
        """Whether a later step asks for the checksum of what this one moves."""
    def size(self, step: int, number: int) -> int | None:
        """Size of an object, where its content is known."""
    def ranges(self, step: int, client: int, turn: int, size: int | None) -> list[tuple[int, int | None]]:
        """What the `turn`-th read of a client reads of an object: (offset, length; None: to the end), in this order."""
    def content(self, step: int, number: int, offset: int, length: int) -> bytes: ...
    def first_wrong(self, step: int, number: int, offset: int, data: bytes) -> int | None:
        """Offset in the object of the first byte of `data`, read at `offset`, that is not its own."""
    def adler32(self, step: int, number: int) -> int:
        """That of the whole object."""

@final
class PracticeStorage:
    """The practice storage server, running in threads of its own from the moment it is made."""

    def __new__(cls, settings: str) -> Self:
        """`settings` is JSON (docs/practice.md). ValueError names a wrong one, OSError a port that is taken."""
    @property
    def port(self) -> int: ...
    def stop(self) -> None:
        """Answer what is under way, write the log out and end."""

@final
class PracticeS3:
    """The practice S3, running in threads of its own from the moment it is made."""

    def __new__(cls, settings: str) -> Self:
        """`settings` is JSON (docs/practice.md). ValueError names a wrong one, OSError a port that is taken."""
    @property
    def port(self) -> int: ...
    def stop(self) -> None:
        """Answer what is under way, write the log out and end."""

@final
class PracticeBatch:
    """The practice batch system, running in threads of its own from the moment it is made."""

    def __new__(cls, settings: str) -> Self:
        """`settings` is JSON (docs/practice.md). ValueError names a wrong one, OSError a port or a journal."""
    @property
    def port(self) -> int: ...
    def stop(self) -> None:
        """Answer what is under way, make the jobs safe, write everything out and end."""

@final
class TapeLibrary:
    """A tape library of known truth and the stagers of its worker nodes, without a clock: each call says the time.

    Times in ns, of any clock. `rules` is JSON of crates/pileup-tape (`Rules`); a node hands the library at most
    `max_transfers` requests at a time (0: no limit) and keeps the others in the order of coming. ValueError names a
    wrong rule.
    """

    def __new__(cls, rules: str, nodes: int, max_transfers: int, now: int) -> Self: ...
    def submit(self, now: int, node: int, key: int, size: int) -> int:
        """Ask the stager of a node, from 0, for a file of so many bytes; equal keys lie on one cartridge.

        Returns the number of the request, from 0. ValueError for a node that is not there.
        """
    def cancel(self, now: int, request: int) -> bool:
        """Take a request back; whether it had not come to its end before."""
    def advance(self, now: int) -> None:
        """Let everything happen that is due by now, each thing at its own time."""
    def next(self) -> int | None:
        """When the next thing is due; None: nothing is under way."""
    def take_events(self) -> list[tuple[int, str, int | None, int | None]]:
        """What has happened since the last call, in order: (time, word, request, drive).

        Words: queued (handed to the library), assigned, mounted, begun, delivered, unreadable, cancelled, requeued,
        lost, drive down, drive up.
        """
    def cartridge(self, key: int) -> int:
        """The cartridge that has the files of this key, from 0."""
    @property
    def queues(self) -> tuple[int, int, int]:
        """Requests at the stagers, requests that wait in the library, drives at work."""

@final
class PracticeIssuer:
    """The practice token issuer, running in threads of its own from the moment it is made."""

    def __new__(cls, settings: str) -> Self:
        """`settings` is JSON (docs/practice.md). ValueError names a wrong one, OSError a port or a file of keys."""
    @property
    def port(self) -> int: ...
    def stop(self) -> None:
        """Answer what is under way, write the log out and end."""

@final
class PracticeTape:
    """The practice tape library, running in threads of its own from the moment it is made."""

    def __new__(cls, settings: str) -> Self:
        """`settings` is JSON (docs/practice.md). ValueError names a wrong one, OSError a port or a file of events."""
    @property
    def port(self) -> int: ...
    def stop(self) -> None:
        """Answer what is under way, write log and events out and end."""

@final
class Relay:
    """A TCP relay with a path of known latency and bandwidth, running in a thread of its own once it is made."""

    def __new__(cls, settings: str) -> Self:
        """`settings` is JSON (model/path.py). ValueError names a wrong one, OSError a port or an unknown name."""
    @property
    def port(self) -> int: ...
    def change(self, path: str) -> None:
        """Take another path (JSON) from now on, on open connections, too. ValueError names what is wrong with it."""
    def counts(self) -> str:
        """What has gone through so far, as JSON: connections, open, refused, resets, half_open, bytes, messages, turns;
        bytes and messages each way.
        """
    def trace(self, open: bool = False) -> str:
        """Connections that have ended since the last call, as JSON (crates/pileup-relay/src/trace.rs), where the
        settings say `trace`; with `open` copies of the others. Times in ns since the epoch.
        """
    def stop(self) -> None:
        """Reset what is open and end."""

def content(seed: int, number: int, offset: int, length: int) -> bytes:
    """The known content of object `number` (docs/engine.md), for tests and Python clients."""

def certificate(der: bytes) -> tuple[str, str, str]:
    """What a certificate (DER) says of itself: subject, issuer, SHA-256 in hexadecimal digits. No name is ""."""

def adler32(data: Iterable[bytes]) -> int: ...

@final
class Session:
    """One session of a server, blocking, without the GIL: for what prepares and clears up.

    `protocol` and `settings` (JSON) are those of ClientSpec; ValueError for wrong ones, and for a protocol that has no
    sessions here. Connects with the first call, and again when the connection has gone. Paths are relative to the
    url's. Every call ends within `timeout` seconds and raises FileNotFoundError, FileExistsError, PermissionError (the
    server refuses), TimeoutError (no answer: it may have happened) or another OSError, in words without paths or
    secrets.
    """

    def __new__(cls, protocol: str, settings: str, timeout: float = 30.0) -> Self: ...
    def connect(self) -> None:
        """Log in, where that has not been done."""
    def stat(self, path: str) -> tuple[int, int, int]:
        """(size in bytes, flags, time of change in seconds since the epoch); flags as the protocol has them."""
    def list(self, path: str) -> list[tuple[str, int, int, int]]:
        """(name, size, flags, time of change) of all in a folder, in the server's order."""
    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        """Bytes from `offset` on: all, or at most `length`."""
    def write(self, path: str, data: bytes, make_path: bool = False, new: bool = False) -> None:
        """Write a whole file; `make_path`: with the folders above it; `new`: only where nothing is yet."""
    def delete(self, path: str) -> None:
        """Remove a file or an empty folder."""
    def mkdir(self, path: str, parents: bool = False) -> None:
        """Make a folder; `parents`: with those above it, and it may be there already."""
    def rename(self, old: str, new: str) -> None: ...
    def query(self, code: int, argument: str) -> bytes:
        """Ask what only this protocol knows, by its own number: over `root://` that of kXR_query (7 configuration)."""
    def prepare(self, options: int, more: int, lines: str) -> bytes:
        """Have files brought from tape, or dropped, one in each line; returns the id of the request.

        Over `root://` these are the two sets of options of kXR_prepare (8 stage, 1 cancel; of the second 1 evict), and
        the lines are paths of the server itself. OSError for protocols without.
        """
    def checksum(self, path: str) -> tuple[str, str]:
        """Kind and hexadecimal digits of the checksum that the server has of a file."""
    def close(self) -> None:
        """End the session; the next call begins a new one."""
