"""Bytes into and out of a program that moves them for us, never waiting longer than its operation may take."""

from __future__ import annotations

import fcntl
import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import suppress

from pileup.plugin import Call

PIECE = 1 << 20
"""Bytes that a pipe holds, where the kernel lets it."""
LAST_WORDS = 1 << 16
"""Bytes of what it says at its end that are read."""
Process = subprocess.Popen[bytes]


def send(process: Process, call: Call, pieces: Iterator[bytes]) -> None:
    """Write to its standard input, as fast as it reads; stop when it reads no more. Raises TimeoutError."""
    if process.stdin is None:
        return
    pipe = process.stdin.fileno()
    _widen(pipe)
    os.set_blocking(pipe, False)
    with process.stdin, suppress(BrokenPipeError):
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                if not select.select([], [pipe], [], call.seconds)[1]:
                    raise TimeoutError
                rest = rest[os.write(pipe, rest) :]


def received(process: Process, call: Call) -> Iterator[bytes]:
    """Yield what comes on its standard output until that ends. Raises TimeoutError."""
    if process.stdout is None:
        return
    pipe = process.stdout.fileno()
    _widen(pipe)
    with process.stdout:
        while True:
            if not select.select([pipe], [], [], call.seconds)[0]:
                raise TimeoutError
            piece = os.read(pipe, PIECE)
            if not piece:
                return
            yield piece


def ended(process: Process, call: Call) -> tuple[int, str]:
    """Wait for its end; return its code and its last words. Raises TimeoutError."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(call.seconds)
    if process.returncode is None:
        raise TimeoutError
    if process.stderr is None:
        return process.returncode, ""
    with process.stderr as stream:
        return process.returncode, stream.read(LAST_WORDS).decode("utf-8", "replace")


def close(process: Process) -> None:
    """Let go of its pipes, whatever is still in them."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()


def _widen(pipe: int) -> None:
    with suppress(OSError):  # an ordinary user may have used up what all his pipes may hold
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIECE)
