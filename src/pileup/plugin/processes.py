"""Runs a program to its end or its timeout, keeps a limited part of its output, leaves no process behind."""

from __future__ import annotations

import atexit
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pileup.plugin.commands import Finished, Stream

if TYPE_CHECKING:
    from pileup.plugin.process_group import ProcessGroup

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
KILLED_WITHIN = 1.0
"""Seconds that the kernel has to remove killed processes."""
PIECE = 1 << 16
TICK = 0.02
"""Seconds between checks whether a program has ended that leaves its output open."""


_running: set[subprocess.Popen[bytes]] = set()


@atexit.register
def _end_all() -> None:
    """End what still runs when pileup ends, even in the middle of an iteration."""
    for process in list(_running):
        group = _group(process)
        group.signal(group.descendants(), signal.SIGKILL)


def execute(
    words: list[str],
    *,
    seconds: float,
    stdin: bytes = b"",
    environment: dict[str, str] | None = None,
    folder: Path | None = None,
) -> Finished:
    """Run a program in a process group of its own for at most `seconds`.

    When it ends, or its time is up, what is left of its group gets SIGTERM, and SIGKILL after GRACE. Raises OSError
    when it cannot be started (FileNotFoundError: no such program).
    """
    end, traffic = time.monotonic() + seconds, None
    try:
        with started(words, stdin=bool(stdin), environment=environment, folder=folder) as process:
            traffic = _Traffic(process, stdin)
            ended = traffic.until_ended(end)
    finally:
        if traffic is not None:
            traffic.close()
    return Finished(process.returncode if ended else None, traffic.stdout, traffic.stderr)


@contextmanager
def started(
    words: list[str],
    *,
    stdin: bool = False,
    environment: dict[str, str] | None = None,
    folder: Path | None = None,
    handed: tuple[int, ...] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program in a process group of its own, with pipes; at the end what is left of its group is ended.

    It also inherits the open files with the numbers `handed`.

    Raises OSError when it cannot be started (FileNotFoundError: no such program).
    """
    process = subprocess.Popen(
        [_located(words[0]), *words[1:]],
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment} if environment else None,
        cwd=folder,
        pass_fds=handed,
        start_new_session=True,
        bufsize=0,
    )
    _running.add(process)
    try:
        yield process
    finally:
        _end_group(process, ended=_has_ended(process))
        _running.discard(process)


def _located(program: str) -> str:
    """Find a program in PATH; a name with a slash is left as it is."""
    found = program if "/" in program else shutil.which(program)
    if found is None:
        raise FileNotFoundError(2, "there is no such program in PATH", program)
    return found


class _Traffic:
    """Moves bytes in and out of a process without blocking."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes) -> None:
        self.stdout, self.stderr = Stream(), Stream()
        self._process = process
        self._stdin = memoryview(stdin)
        self._selector = selectors.DefaultSelector()
        for pipe, stream in ((process.stdout, self.stdout), (process.stderr, self.stderr)):
            self._register(pipe, selectors.EVENT_READ, stream)
        self._register(process.stdin, selectors.EVENT_WRITE, None)

    def _register(self, pipe: IO[bytes] | None, event: int, stream: Stream | None) -> None:
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, event, stream)

    def until_ended(self, end: float) -> bool:
        """Go on until the process has ended; False when that did not happen by `end` (monotonic, seconds)."""
        while not _has_ended(self._process):
            left = end - time.monotonic()
            if left <= 0:
                return False
            if self._selector.get_map():
                self._move(min(left, TICK))
            else:
                _wait(self._process, left)
        return True

    def close(self) -> None:
        """Read what is in the pipes now, for a second at most, then close them."""
        end = time.monotonic() + 1
        while self._selector.get_map() and self._move(0) and time.monotonic() < end:
            pass
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _move(self, timeout: float) -> bool:
        """Wait for a pipe to be ready and move bytes; False when there was nothing."""
        events = self._selector.select(timeout)
        for key, _ in events:
            more = self._fill() if key.data is None else _empty(key.fd, key.data)
            if not more:
                self._selector.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
        return bool(events)

    def _fill(self) -> bool:
        pipe = self._process.stdin
        try:
            written = os.write(pipe.fileno(), self._stdin[:PIECE]) if pipe else 0
        except BrokenPipeError:  # it stopped reading
            return False
        self._stdin = self._stdin[written:]
        return len(self._stdin) > 0


def _empty(descriptor: int, stream: Stream) -> bool:
    """Read one piece of a pipe; False at its end."""
    piece = os.read(descriptor, PIECE)
    stream.add(piece)
    return bool(piece)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended. It is not reaped, so that its pid cannot be reused yet."""
    if process.returncode is not None:
        return True
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    except ChildProcessError:  # where SIGCHLD is ignored the kernel keeps no dead children
        return True


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait for a process that has closed its streams to end; grows from short naps so that the end is seen soon."""
    end, nap = time.monotonic() + seconds, 0.0002
    while not _has_ended(process) and time.monotonic() < end:
        time.sleep(min(nap, max(0.0, end - time.monotonic())))
        nap = min(2 * nap, TICK)


def _end_group(process: subprocess.Popen[bytes], ended: bool) -> None:
    """End what is left of the process group, and at a timeout also descendants that have left the group."""
    group = _group(process)
    strays = [] if ended else group.descendants()
    for number, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, KILLED_WITHIN)):
        group.signal(strays, number)
        if ended:
            process.wait()
        deadline = time.monotonic() + patience
        while alive := group.alive(strays):
            if time.monotonic() > deadline:
                break
            time.sleep(TICK / 2)
        if not alive:
            break
    process.poll()  # do not wait: a process that hangs in the kernel, e.g. on a dead file server, cannot be ended


def _group(process: subprocess.Popen[bytes]) -> ProcessGroup:
    from pileup.plugin.process_group import ProcessGroup  # noqa: PLC0415  psutil is slow to import, and to list plug-ins

    return ProcessGroup(process)
