"""The ways to a place beside a Dask worker, which Dask's own connections carry."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from queue import SimpleQueue
from typing import Any, Protocol

AHEAD = 8 << 20
"""Bytes that may wait to be sent."""
MADE_WITHIN = 45.0
"""Seconds until a worker has begun a place: it may be busy with tasks of others."""
ANSWERED_WITHIN = 2.0
"""Seconds beyond its own time that a call to a worker may take."""


class Worker(Protocol):
    """A worker of a cluster, as its channel knows it."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop of Dask's client, in a thread of its own."""

    def current(self) -> AbstractContextManager[object]:
        """Return a context in which an actor finds the client of this cluster."""

    async def why(self, problem: BaseException) -> str:
        """Return why a call to it failed: whether the worker or the whole cluster is gone."""


class DaskChannel:
    """A `Channel` of calls to an actor on a worker, a `Bridge` that Dask makes: `actor` is its future there.

    Two tasks on the loop of Dask's client exchange the bytes: a thread between would make clocks less certain.
    """

    def __init__(self, worker: Worker, actor: Any) -> None:
        self._worker = worker
        self._actor = actor
        self._bridge: Any = None
        self._reason = ""
        """Why the worker is out of reach; empty while it is not."""
        self._changed = threading.Condition()
        self._unsent, self._output = bytearray(), bytearray()
        self._sent_more = asyncio.Event()
        self._closed = self._over = False
        self._errors: SimpleQueue[bytes] = SimpleQueue()
        self._task: Future[None] = asyncio.run_coroutine_threadsafe(self._serve(), worker.loop)

    def send(self, data: bytes, within: float) -> None:
        """Do as a `Channel` does."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed or len(self._unsent) < AHEAD, within):
                raise TimeoutError
            if self._closed:
                raise BrokenPipeError
            self._unsent += data
        self._worker.loop.call_soon_threadsafe(self._sent_more.set)

    def read(self, count: int) -> bytes:
        """Do as a `Channel` does."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or len(self._output) >= count)
            data = bytes(self._output[:count])
            del self._output[:count]
        return data

    def read_errors(self) -> bytes:
        """Do as a `Channel` does."""
        return self._errors.get()

    def busy(self) -> bool:
        """Return False: what a process elsewhere does is not seen from here."""
        return False

    def close(self) -> None:
        """Do as a `Channel` does."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._worker.loop.call_soon_threadsafe(self._sent_more.set)

    def kill(self) -> None:
        """Do as a `Channel` does, without waiting."""
        if self._bridge is not None and not self._reason:
            self._bridge.kill()

    def await_end(self, seconds: float) -> None:
        """Do as a `Channel` does."""
        self.wait(seconds)

    def wait(self, seconds: float) -> int:
        """Do as a `Channel` does."""
        if self._bridge is None or self._reason:
            raise ConnectionError(self._reason or "its worker had not begun it")
        try:
            code, errors = self._bridge.wait(seconds).result(seconds + ANSWERED_WITHIN)
        except Exception as problem:
            why = asyncio.run_coroutine_threadsafe(self._worker.why(problem), self._worker.loop)
            raise ConnectionError(why.result()) from problem
        if errors:
            self._errors.put(errors)
        if code is None:
            raise TimeoutError
        self._errors.put(b"")
        return int(code)

    def release(self) -> None:
        """Do as a `Channel` does: Dask forgets the actor once nobody holds it."""
        self._task.cancel()
        self._errors.put(b"")
        self._bridge = self._actor = None

    async def _serve(self) -> None:
        """Have the place begun, then exchange bytes until it has ended or the worker is gone."""
        try:
            bridge = await asyncio.wait_for(self._actor, MADE_WITHIN)
            with self._worker.current():
                started = bridge.start()
            await asyncio.wait_for(started, MADE_WITHIN)
            self._bridge = bridge
            sending = asyncio.ensure_future(self._send_all())
            try:
                await self._receive_all()
            finally:
                sending.cancel()
        except Exception as problem:  # whatever Dask raises when it is lost
            self._reason = await self._worker.why(problem)
            self._errors.put(b"")
        with self._changed:
            self._over = True
            self._changed.notify_all()

    async def _receive_all(self) -> None:
        more = True
        while more:
            output, errors, more = await self._bridge.read()
            with self._changed:
                self._output += output
                self._changed.notify_all()
            if errors:
                self._errors.put(errors)

    async def _send_all(self) -> None:
        """Send what is to be sent, one call after another, which keeps the order."""
        data: bytes | None = b""
        with suppress(Exception):  # the receiving side sees failures too, and says why
            while data is not None:
                await self._sent_more.wait()
                self._sent_more.clear()
                while data := self._taken():
                    await self._bridge.write(data)
            await self._bridge.close()

    def _taken(self) -> bytes | None:
        """Return what is to be sent now; None when nothing more will be."""
        with self._changed:
            data = bytes(self._unsent)
            self._unsent.clear()
            self._changed.notify_all()
        return data if data or not self._closed else None
