"""The other way to press a native test: its Program done, step by step, by some other client than the engine."""

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
"""Where a piece of an object begins, and its length, bytes."""
METHODS = {verb: "open_file" if verb == "open" else verb for verb in VERBS if verb != "noop"}
"""Verb -> the method of a ProgramClient that does it."""


class Call:
    """One operation to be done now, and what its client notes while it does it."""

    __slots__ = ("_operation", "calls", "deadline", "key", "sent", "step", "timeout")

    def __init__(self, step: Step, key: str, operation: Operation, timeout: int) -> None:
        self.step = step
        self.key = key
        """Name of the object, relative to the target."""
        self.timeout = timeout
        """What it may take, ns."""
        self.deadline = time.monotonic() + timeout / 1e9
        """When it has taken too long, of time.monotonic()."""
        self.calls = 0
        """Requests made so far."""
        self.sent = False
        """Whether a request has left, so that no answer means that it may have happened."""
        self._operation = operation

    @property
    def seconds(self) -> float:
        """What is left of the timeout. Raises TimeoutError when nothing is."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def leaves(self) -> float:
        """Count a request that leaves now; return the seconds in which its answer must be here."""
        left = self.seconds
        self.calls += 1
        self.sent = True
        return left

    def came(self, size: int) -> None:
        """Count bytes of payload that are not given back to whoever asked."""
        self._operation.bytes += size

    def first_byte(self) -> None:
        """Note that the first byte of the answer is here, now; later ones do not count."""
        self._operation.first_byte()


class ProgramClient:
    """One virtual client of a target: a session of its own, and a method for each verb that it can do.

    What is common to all clients is done around it: which object is whose turn, known content made and compared,
    sizes, counts, sums, the timeout, the record. A verb ends with nothing said, or raises Failed, Refused or Ambiguous
    in words that have no path, host or number in them, so that equal errors are counted together; TimeoutError says
    that no answer came in time. It must come back within `call.seconds`. After an operation that did not pass the next
    one is asked of the same client, which repairs its own session.
    """

    verbs: ClassVar[frozenset[str]] = frozenset({"noop"})
    """What it can do: the verbs whose methods it has, and `noop`."""
    name: ClassVar[str] = ""
    """What users call it: the value of the target's option `client`."""

    def __init_subclass__(cls) -> None:
        """Find out what it can do."""
        super().__init_subclass__()
        has = {verb for verb, name in METHODS.items() if getattr(cls, name) is not getattr(ProgramClient, name)}
        cls.verbs = frozenset({"noop", *has})

    @classmethod
    def problem(cls, step: Step) -> str:
        """Return why this client cannot do a step, as "what; expected what"; empty when it can. Asked before a run."""
        if step.verb == "checksum" and step.checksum == "if stated":
            return f"`client: {cls.name}` knows no `checksum: if stated`; expected `checksum: adler32` or `none`"
        if step.verb in cls.verbs:
            return ""
        return f"`client: {cls.name}` has no {step.verb}; expected a client that has it, or another test"

    def open(self) -> None:
        """Connect and make ready; not timed. What goes wrong is met again by the first operation."""

    def close(self) -> None:
        """Give everything back."""

    def stat(self, call: Call) -> int:
        """Return the size of an object in bytes."""
        raise NotImplementedError

    def list(self, call: Call) -> int:
        """Return how many entries a folder has."""
        raise NotImplementedError

    def begin_read(self, call: Call) -> int | None:
        """Open an object for what is read of it now; return its size where the server tells it then."""
        return None

    def end_read(self, call: Call, keep: bool) -> None:
        """Close it, or keep it open for the next read; also after a read that failed."""

    def read(self, call: Call, offset: int, length: int | None) -> Iterator[bytes]:
        """Yield what is in an object from a byte on, up to its end when no length is given.

        Called between `begin_read` and `end_read`, once or more.
        """
        raise NotImplementedError

    def read_pieces(self, call: Call, ranges: Sequence[Range]) -> Iterator[bytes]:
        """Yield pieces of an object, one for each range, asked for together."""
        raise NotImplementedError

    def write(self, call: Call, pieces: Iterator[bytes], size: int) -> None:
        """Write a whole object, `size` bytes, in the place of one that is there."""
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
        """Let the server send an object to a second target, under a name relative to that one, in place of what is
        there. The bytes that it reports on while it goes on are noted with `call.came`.
        """
        raise NotImplementedError

    def checksum(self, call: Call) -> int:
        """Return the Adler-32 of an object, as the server says it."""
        raise NotImplementedError

    def open_file(self, call: Call) -> None:
        """Open an object for reading and close it again."""
        raise NotImplementedError

    def connect(self, call: Call) -> None:
        """Make a session beside the client's own and end it."""
        raise NotImplementedError

    def request(self, call: Call) -> None:
        """Do what the step's method and headers say, and judge the answer by its `expect`."""
        raise NotImplementedError
