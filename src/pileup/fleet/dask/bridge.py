"""What is on a Dask worker: an actor that starts a place beside it and passes bytes between the two.

Dask makes it there by its name, so the worker needs pileup; the place is a process of its own, because tests may hold
the interpreter, change its environment, or end it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import weakref
from asyncio.subprocess import PIPE, Process

import dask.config

from pileup.fleet.launch import PLACE

POLL = 0.5
"""Longest time, s, that a call waits for news: only between calls can Dask take the actor of a lost client away."""
PIECE = 256 << 10
AHEAD = 8 << 20
"""Bytes of its output that may wait to be fetched."""
GRACE = 10.0
"""Seconds that a place has to end by itself once nobody speaks to it."""


class Bridge:
    """A place beside this worker. If its client vanishes, Dask drops the actor, which ends the place."""

    def __init__(self, python: str | None) -> None:
        self._command = (python or sys.executable, *PLACE)
        self._process: Process
        self._output, self._errors = bytearray(), bytearray()
        self._pumps: list[asyncio.Task[None]] = []
        self._news = asyncio.Event()
        self._room = asyncio.Event()

    async def start(self) -> None:
        """Start the place. Raises OSError."""
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=_environment(), start_new_session=True
        )
        loop = asyncio.get_running_loop()
        weakref.finalize(self, loop.call_soon_threadsafe, _let_go, self._process).atexit = False
        for stream, into in ((self._process.stdout, self._output), (self._process.stderr, self._errors)):
            if stream is not None:
                self._pumps.append(loop.create_task(_pump(stream, into, self._news, self._room)))

    async def write(self, data: bytes) -> None:
        """Pass bytes on to the place; what it no longer takes is dropped."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(data)
                await self._process.stdin.drain()

    async def close(self) -> None:
        """Close its stdin."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def read(self) -> tuple[bytes, bytes, bool]:
        """Return what came from its stdout and stderr, and whether more of the first may come."""
        if not (self._output or self._errors or self._pumps[0].done()):
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLL):
                    await self._news.wait()
        output, errors = bytes(self._output), self._taken_errors()
        self._output.clear()
        self._room.set()
        return output, errors, bool(output) or not self._pumps[0].done()

    async def wait(self, seconds: float) -> tuple[int | None, bytes]:
        """Return its code, None if it has not ended within that time, and the rest of its stderr."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(self._process.wait(), asyncio.wait(self._pumps[1:])), seconds)
        return self._process.returncode, self._taken_errors()

    async def kill(self) -> None:
        """End it with all that it has started."""
        _kill(self._process)

    def _taken_errors(self) -> bytes:
        taken = bytes(self._errors)
        self._errors.clear()
        return taken


async def _pump(stream: asyncio.StreamReader, into: bytearray, news: asyncio.Event, room: asyncio.Event) -> None:
    while data := await stream.read(PIECE):
        into += data
        news.set()
        while len(into) > AHEAD:
            room.clear()
            await room.wait()
    news.set()


def _environment() -> dict[str, str]:
    """Return the variables of the place: those of the worker, but for what Dask's nanny adds for tasks of its own.

    Above all MALLOC_TRIM_THRESHOLD_: with it, a test that reads much takes up to 1.8 times as long.
    """
    added = dask.config.get("distributed.nanny.pre-spawn-environ", {}) or {}
    return {name: value for name, value in os.environ.items() if str(added.get(name)) != value}


def _kill(process: Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _let_go(process: Process) -> None:
    """Let a place end by itself, and see to it."""
    if process.stdin is not None:
        process.stdin.close()
    asyncio.get_running_loop().call_later(GRACE, _kill, process)
