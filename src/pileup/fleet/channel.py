"""The two ways to a place and back: those of a process here, which may be the ssh to another host."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Protocol, cast

import psutil

from pileup.fleet import child_cpu

PIECE = 65536
"""Bytes read or written at once."""


class Channel(Protocol):
    """Carries bytes to a place and from it. Its methods are called by several threads."""

    def send(self, data: bytes, within: float) -> None:
        """Pass all of it on.

        Raises TimeoutError when nothing of it was taken for `within` seconds, another OSError or ValueError when the
        way is closed.
        """

    def read(self, count: int) -> bytes:
        """Return so many bytes, less at the end."""

    def read_errors(self) -> bytes:
        """Return some of what it writes to its stderr, nothing at the end."""

    def busy(self) -> bool:
        """Whether it has worked since the last call, as far as this can be seen from here."""

    def close(self) -> None:
        """Send nothing more: a place then ends by itself."""

    def kill(self) -> None:
        """End it, with all that it has started."""

    def await_end(self, seconds: float) -> None:
        """Wait until it has ended. Raises TimeoutError."""

    def wait(self, seconds: float) -> int:
        """Wait until it has ended and return its code, -N for signal N.

        Raises TimeoutError, and ConnectionError with the reason when nobody knows its code.
        """

    def release(self) -> None:
        """Let go of what it has sent, once it was waited for."""


class ProcessChannel:
    """The pipes of a process that is started here. Raises OSError when it cannot be."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self._cpu = -1.0
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment) if environment else None,
            start_new_session=True,
        )
        os.set_blocking(self._pipe("stdin").fileno(), False)

    def _pipe(self, name: str) -> BinaryIO:
        return cast(BinaryIO, getattr(self._process, name))

    def send(self, data: bytes, within: float) -> None:
        """Do as a `Channel` does."""
        rest, pipe = memoryview(data), self._pipe("stdin")
        while rest:
            descriptor = pipe.fileno()
            try:
                rest = rest[os.write(descriptor, rest[:PIECE]) :]
            except BlockingIOError as problem:
                if not select.select((), (descriptor,), (), within)[1]:
                    raise TimeoutError from problem

    def read(self, count: int) -> bytes:
        """Do as a `Channel` does."""
        return self._pipe("stdout").read(count)

    def read_errors(self) -> bytes:
        """Do as a `Channel` does."""
        pipe = self._pipe("stderr")
        data = os.read(pipe.fileno(), PIECE)
        if not data:
            pipe.close()
        return data

    def busy(self) -> bool:
        """Do as a `Channel` does: a test may hold the interpreter for long."""
        try:
            process = psutil.Process(self._process.pid)
            used = sum(process.cpu_times()[:2])
            stopped = process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE)
        except psutil.Error:
            return False
        before, self._cpu = self._cpu, max(used, self._cpu)
        return used > before and not stopped

    def close(self) -> None:
        """Do as a `Channel` does."""
        with contextlib.suppress(OSError, ValueError):
            self._pipe("stdin").close()

    def kill(self) -> None:
        """Do as a `Channel` does: its whole group."""
        child_cpu.kill_group(self._process)

    def await_end(self, seconds: float) -> None:
        """Do as a `Channel` does; it stays to be waited for, so that its group can still be ended."""
        try:
            child_cpu.await_end(self._process, seconds)
        except subprocess.TimeoutExpired as problem:
            raise TimeoutError from problem

    def wait(self, seconds: float) -> int:
        """Do as a `Channel` does."""
        try:
            return child_cpu.wait(self._process, seconds)
        except subprocess.TimeoutExpired as problem:
            raise TimeoutError from problem

    def release(self) -> None:
        """Do as a `Channel` does."""
        self._pipe("stdout").close()
