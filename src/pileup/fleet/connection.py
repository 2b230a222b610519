"""A place behind a channel: starts it, exchanges messages, follows its clock, notices its end."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from pileup._core._native import VERSION, now
from pileup.fleet.clock import Offset
from pileup.fleet.launch import Start
from pileup.fleet.wire import HELLO, LONGEST_BANNER, PROTOCOL, Message, WireError, encode, receive
from pileup.model.errors import PileupError, TargetError

ANSWER_WITHIN = 60.0
"""Seconds that a place may take to start, or to make a test ready: software on a network file system comes slowly."""
UNTIL_WHY = 6
"""How long the side that writes waits for the side that reads to find out how a process ended, s."""
SILENCE = 30.0
"""Seconds without a message after which a place is lost."""
END_WITHIN = 10.0
"""Seconds that a place may take to end its record."""
BURST = 16
"""Pings at the start."""
KEPT = 4 << 10
"""Bytes kept of what a place writes to its stderr: they say why it ended."""


SSH_FAILED = 255
"""Code of an ssh that did not reach the host, or was refused by it; any other is that of the program there."""


class NoPileup(TargetError):
    """A host answers, but does not have this version of pileup."""


class Connection:
    """A place as its messages: `take` gets each, in a thread of the connection; `gone` gets why it was lost, once.

    One that never says hello is reported by `greet` alone.
    """

    def __init__(
        self,
        start: Start,
        environment: Mapping[str, str] | None = None,
        take: Callable[[Message], None] = lambda message: None,
        gone: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self.start = start
        self.offset = Offset()
        self.host = ""
        self.lost = ""
        """Why the place is gone; empty while it is alive."""
        self.ended = threading.Event()
        self._deaf = False
        """Whether nothing can be sent any more."""
        self._take = take
        self._gone = gone
        self._sending = threading.Lock()
        self._state = threading.Lock()
        self._answered = threading.Condition()
        self._answers: dict[str, Message] = {}
        self._said: deque[bytes] = deque()
        self._closing = self._greeted = False
        self._heard = time.monotonic()
        self._code: int | None = None
        self._channel = start.begin(environment)
        self._threads = [
            threading.Thread(target=target, name=f"{start.name} {name}", daemon=True)
            for name, target in (("stderr", self._read_stderr), ("wire", self._read_all))
        ]
        for thread in self._threads:
            thread.start()

    def greet(self, within: float = ANSWER_WITHIN) -> None:
        """Wait for its hello. Raises TargetError with what it said; NoPileup: none there, or another version."""
        try:
            hello = self.answer("hello", within)
        except TargetError as problem:
            self.lose(problem.what)
            code = self._code
            kind = NoPileup if self.start.far and code is not None and 0 <= code < SSH_FAILED else TargetError
            far = f"pileup {VERSION} for {self.start.python} there"
            hint = f"try `{self.start.python} -m pileup --version` there; places: {{python: PATH}} names another"
            raise kind(f"place {self.start.name}: {problem.what}", far, hint) from problem
        version, protocol = hello.text("version"), hello.number("protocol")
        if (version, protocol) != (VERSION, PROTOCOL):
            self.lose(f"it has pileup {version}")
            told = f"place {self.start.name} has pileup {version} (protocol {protocol})"
            wanted = f"{VERSION} (protocol {PROTOCOL}) as here"
            raise NoPileup(told, wanted, "install the wheel of this version there (docs/install.md)")
        self.host, self._greeted = hello.text("host")[:200], True

    def send(self, kind: str, plain: Mapping[str, object] | None = None, blobs: Sequence[bytes] = ()) -> bool:
        """Send a message; False when the place is lost, or soon will be. It is lost if it reads nothing for SILENCE."""
        data = encode(kind, plain, blobs)
        with self._sending:
            try:
                if not self.lost and not self._deaf:
                    self._channel.send(data, SILENCE)
            except TimeoutError:
                self.lose(f"it took nothing for {SILENCE:.0f} s")
            except (OSError, ValueError):
                self._deaf = True
                threading.Thread(target=self._find_out, name=f"{self.start.name} end", daemon=True).start()
        return not self.lost and not self._deaf

    def _find_out(self) -> None:
        """Lose a place to which nothing can be sent. The reading side knows why, unless children keep the pipe open.

        It has a thread of its own: the one that sends may be that side, or hold what that side waits for.
        """
        if not self.ended.wait(UNTIL_WHY):
            self.lose(self._why())

    def ask(self, kind: str, plain: Mapping[str, object] | None, awaited: str, blobs: Sequence[bytes] = ()) -> Message:
        """Send a message and return the answer of kind `awaited`. Raises TargetError when the place is lost."""
        self.send(kind, plain, blobs)
        return self.answer(awaited)

    def answer(self, kind: str, within: float = ANSWER_WITHIN) -> Message:
        """Wait for a message of a kind that was requested. Raises TargetError: lost, or not within the time."""
        with self._answered:
            self._answered.wait_for(lambda: kind in self._answers or self.lost, within)
            if kind in self._answers:
                return self._answers.pop(kind)
        if self.lost:
            raise TargetError(self.lost)
        raise TargetError(f"no {kind!r} came within {within:.0f} s")

    def ping(self) -> None:
        """Ask for the time there; the answer is taken when it comes."""
        self.send("ping", self._time())

    def _time(self) -> dict[str, int]:
        return {"corrected": self.offset.corrected, "sent": now()}

    def synchronise(self) -> None:
        """Measure the offset of its clock well, and have it moved to ours. Raises TargetError when it is lost."""
        for _ in range(2):
            for _ in range(BURST):
                self.ask("ping", self._time(), "pong")
            self.align()

    def align(self) -> None:
        """Have the clock there corrected by its estimated offset."""
        best = self.offset.best(now())
        if best is not None and abs(best.offset) > best.error // 4:
            self.offset.correct(-best.offset)
            self.send("shift", {"by": -best.offset})

    def watch(self) -> None:
        """Look whether it is still there; to be called each second or so."""
        if not self.lost and time.monotonic() - self._heard > SILENCE and not self._busy():
            self.lose(f"it has not answered for {SILENCE:.0f} s")

    def _busy(self) -> bool:
        """Whether a process here works, though it does not speak."""
        if self.start.far or not self._channel.busy():
            return False
        self._heard = time.monotonic()
        return True

    def close(self) -> None:
        """End the place in order, then by force; return when it has ended."""
        self._closing = True
        if not self.lost and self.send("close"):
            with contextlib.suppress(TargetError):
                self.answer("closed", END_WITHIN)
        self.lose("it was ended")
        for thread in self._threads:
            thread.join(1)

    def lose(self, reason: str) -> None:
        """Give the place up: kill what is left of its process, and notify those who wait for it."""
        with self._state:
            if self.lost:
                return
            self.lost = reason
        if not self._closing:
            self._channel.kill()
        self._channel.close()
        try:
            self._code = self._channel.wait(2)
        except TimeoutError:
            self._channel.kill()
            with contextlib.suppress(OSError):
                self._code = self._channel.wait(END_WITHIN)
        except ConnectionError:
            pass  # it is out of reach, and what it was lost for is known
        with self._answered:
            self._answered.notify_all()
        self.ended.set()
        if self._greeted and not self._closing:
            self._gone(reason)

    def _read_all(self) -> None:
        reason = ""
        try:
            if self._skip_banner():
                while (message := receive(self._channel.read)) is not None:
                    self._heard = time.monotonic()
                    self._hear(message, now())
        except (PileupError, OSError, ValueError) as problem:
            reason = f"it sent an invalid message: {problem}"
        finally:
            self.lose(reason or self._why())
            self._channel.release()

    def _skip_banner(self) -> bool:
        """Read up to the hello of a place; what a login shell prints comes before."""
        seen = b""
        while len(seen) < LONGEST_BANNER and (byte := self._channel.read(1)):
            seen += byte
            if seen.endswith(HELLO):
                return True
        if len(seen) >= LONGEST_BANNER:
            raise WireError("much text, and no hello", "pileup at the other end")
        self._said.append(seen[-KEPT:])
        return False

    def _hear(self, message: Message, returned: int) -> None:
        if message.kind == "pong":
            sent, received, answered = (message.number(name) for name in ("sent", "received", "answered"))
            self.offset.add(sent, received, answered, returned, message.number("corrected"))
        if message.kind in {"hello", "pong", "opened", "closed"} or message.kind.startswith("answer-"):
            with self._answered:
                self._answers[message.kind] = message
                self._answered.notify_all()
        else:
            self._take(message)

    def _read_stderr(self) -> None:
        while data := self._channel.read_errors():
            self._said.append(data[-KEPT:])
            while len(self._said) > 1 and sum(map(len, self._said)) - len(self._said[0]) > KEPT:
                self._said.popleft()

    def _why(self) -> str:
        """Return how the process ended, with the last of what it wrote to its stderr."""
        try:
            self._channel.await_end(2)
            if not self._closing:
                self._channel.kill()  # what it has left, while the group id cannot be reused
            code = self._channel.wait(2)
        except TimeoutError:
            return "it closed its pipe"
        except ConnectionError as problem:
            return str(problem)
        self._threads[0].join(1)
        ended = f"it ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with code {code}"
        said = _essence(b"".join(self._said).decode(errors="replace"))
        return ended + (f" and said: {said}" if said else "")


def _essence(text: str) -> str:
    """Return what a process said last in a line: of a crash of Python where it was, else the last lines."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    crash = next((at for at, line in enumerate(lines) if line.startswith("Fatal Python error")), None)
    if crash is None:
        return " / ".join(lines[-6:])
    frames = [line for line in lines[crash:] if line.startswith("File ")]
    return " / ".join([lines[crash], *frames[:3]])
