"""Runs the Program of a native test, step by step, with another client than the engine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from pileup.model.verbs import VERBS

if TYPE_CHECKING:
    from pileup.model.program import Step
    from pileup.plugin.operation import Operation
    from pileup.plugin.target import Target

Range = tuple[int, int]
"""Offset and length of a piece of an object, bytes."""
METHODS = {verb: "open_file" if verb == "open" else verb for verb in VERBS if verb != "noop"}
"""Verb -> the method of a ProgramClient that does it."""


class Call:
    """One operation to do now, and what its client reports while it does it."""

    __slots__ = ("_operation", "calls", "deadline", "key", "past_relay", "sent", "step", "timeout")

    def __init__(self, step: Step, key: str, operation: Operation, timeout: int) -> None:
        self.step = step
        self.key = key
        """Name of the object, relative to the target."""
        self.timeout = timeout
        """Its timeout, ns."""
        self.deadline = time.monotonic() + timeout / 1e9
        """When the timeout ends, of time.monotonic()."""
        self.calls = 0
        """Requests made so far."""
        self.sent = False
        """Whether a request was sent, so that without an answer it may have happened."""
        self.past_relay = 0
        """Redirects so far that led past the relay of the target's `path`."""
        self._operation = operation

    @property
    def seconds(self) -> float:
        """Time left of the timeout. Raises TimeoutError when it is over."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def leaves(self) -> float:
        """Count a request that is sent now; return the seconds until its answer must have come."""
        left = self.seconds
        self.calls += 1
        self.sent = True
        return left

    def came(self, size: int) -> None:
        """Count bytes of payload that are not returned to the caller."""
        self._operation.bytes += size

    def first_byte(self) -> None:
        """Record that the first byte of the answer has come now; later calls have no effect."""
        self._operation.first_byte()


class ProgramClient:
    """One client of a target: a session, and a method for each verb that it supports.

    pileup does what is common to all clients: it chooses objects, makes and compares known content, checks sizes and
    sums, counts, applies the timeout, and records. A verb returns, or raises Failed, Refused or Ambiguous with a text
    without path, host or number, so that equal errors are counted together; TimeoutError means that no answer came in
    time. It must return within `call.seconds`. After an operation that did not pass the same client is used for the
    next one, so it must repair its session.
    """

    verbs: ClassVar[frozenset[str]] = frozenset({"noop"})
    """The verbs that it supports: those whose methods it has, and `noop`."""
    name: ClassVar[str] = ""
    """Its name: the value of the target's option `client`."""

    def __init_subclass__(cls) -> None:
        """Find out which verbs it supports."""
        super().__init_subclass__()
        has = {verb for verb, name in METHODS.items() if getattr(cls, name) is not getattr(ProgramClient, name)}
        cls.verbs = frozenset({"noop", *has})

    @classmethod
    def problem(cls, step: Step) -> str:
        """Return why this client cannot do a step, as "what; expected what"; empty when it can. Asked before a run."""
        if step.verb == "checksum" and step.checksum == "if stated":
            return f"`client: {cls.name}` knows no `checksum: if stated`; expected `checksum: adler32` or `none`"
        elsewhere = step.verb == "checksum" and step.destination is not None
        if elsewhere and cls.checksum_there is ProgramClient.checksum_there:
            return f"`client: {cls.name}` asks no second target for checksums; expected `checksum: none`"
        if step.verb in cls.verbs or elsewhere:
            return ""
        return f"`client: {cls.name}` has no {step.verb}; expected a client that has it, or another test"

    def open(self) -> None:
        """Connect and prepare; not timed. Errors are ignored here, and appear in the first operation."""

    def close(self) -> None:
        """Release everything."""

    def stat(self, call: Call) -> int:
        """Return the size of an object in bytes."""
        raise NotImplementedError

    def list(self, call: Call) -> int:
        """Return how many entries a folder has."""
        raise NotImplementedError

    def begin_read(self, call: Call) -> int | None:
        """Open an object for reading; return its size if the server reports it."""
        return None

    def end_read(self, call: Call, keep: bool) -> None:
        """Close it, or keep it open for the next read; also after a read that failed."""

    def read(self, call: Call, offset: int, length: int | None) -> Iterator[bytes]:
        """Yield the content of an object from a byte on, by default up to its end.

        Called between `begin_read` and `end_read`, once or more.
        """
        raise NotImplementedError

    def read_pieces(self, call: Call, ranges: Sequence[Range]) -> Iterator[bytes]:
        """Yield pieces of an object, one for each range, requested together."""
        raise NotImplementedError

    def write(self, call: Call, pieces: Iterator[bytes], size: int) -> None:
        """Write a whole object of `size` bytes, replacing an existing one."""
        raise NotImplementedError

    def delete(self, call: Call) -> None:
        """Remove an object or an empty folder. Raises NotThere."""
        raise NotImplementedError

    def mkdir(self, call: Call) -> None:
        """Make a folder. Raises ThereAlready."""
        raise NotImplementedError

    def rename(self, call: Call, to: str) -> None:
        """Give an object another name, relative to the target."""
        raise NotImplementedError

    def copy(self, call: Call, to: Target, key: str) -> None:
        """Let the server send an object to a second target, under a name relative to that, replacing an existing one.
        Report the bytes with `call.came` while they are transferred; without a report those of the known content count.
        """
        raise NotImplementedError

    def checksum(self, call: Call) -> int:
        """Return the Adler-32 of an object, as the server says it."""
        raise NotImplementedError

    def checksum_there(self, call: Call, to: Target, key: str) -> int:
        """Return the Adler-32 of an object on a second target, as that says it."""
        raise NotImplementedError

    def open_file(self, call: Call) -> None:
        """Open an object for reading and close it again."""
        raise NotImplementedError

    def connect(self, call: Call) -> None:
        """Make an additional session and end it."""
        raise NotImplementedError

    def request(self, call: Call) -> None:
        """Send the request of the step's method and headers, and check the answer by its `expect`."""
        raise NotImplementedError
