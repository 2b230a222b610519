"""Calls of targets that a second Ctrl-C ends at once: each runs in a thread that is then abandoned.

A server that accepts a connection and never answers blocks a call for the whole patience of its target.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from functools import partial
from typing import TypeVar

from pileup.model.errors import TargetError
from pileup.model.program import ClientSpec
from pileup.plugin import Entry, FileTarget, ProgramClient, Target
from pileup.run.stop import LOOK, Stop, StopMode

Given = TypeVar("Given")


class CalledOff(TargetError):
    """The run was ended at once: what the target would have answered is not known."""

    def __init__(self) -> None:
        super().__init__("the run was ended at once")


class Caller:
    """Makes calls for who asks, from any thread; who asks waits for the answer, or until the run ends at once."""

    def __init__(self, stop: Stop | None = None) -> None:
        self._stop = stop or Stop()
        self._local = threading.local()
        self._hands: list[_Hand] = []

    def call(self, act: Callable[[], Given]) -> Given:
        """Return what a call gives, or raise what it raises. Raises CalledOff when the run ends at once."""
        self._look()
        hand = getattr(self._local, "hand", None)
        if hand is None:
            hand = self._local.hand = _Hand()
            self._hands.append(hand)
        answer = hand.do(act)
        while not wait([answer], LOOK).done:
            self._look()
        found: Given = answer.result()
        return found

    def _look(self) -> None:
        if self._stop.haste is StopMode.AT_ONCE:
            raise CalledOff

    def files(self, target: Target | None) -> Target | None:
        """Return a target whose files are asked for by such calls; what keeps no files as it is."""
        return CalledFiles(target, self) if isinstance(target, FileTarget) else target

    def close(self) -> None:
        """End the threads that wait for calls; one that was left behind ends with its call."""
        for hand in self._hands:
            hand.end()


class _Hand:
    """A thread that makes one call after another: connections are kept by thread."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._main, name="calls of targets", daemon=True).start()

    def do(self, act: Callable[[], Given]) -> Future[Given]:
        """Return what will have the answer."""
        answer: Future[Given] = Future()

        def work() -> None:
            try:
                answer.set_result(act())
            except BaseException as problem:
                answer.set_exception(problem)

        self._waiting.put(work)
        return answer

    def end(self) -> None:
        """End once everything is done that it was given."""
        self._waiting.put(None)

    def _main(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()


class CalledFiles(FileTarget):
    """The files of a target, by calls that may be called off."""

    _framework = True

    def __init__(self, target: FileTarget, caller: Caller) -> None:
        self.url, self.credentials = target.url, target.credentials
        self._target = target
        self._call = caller.call

    def client(self) -> ClientSpec | None:
        """As the target itself."""
        return self._target.client()

    def preparing_client(self) -> Callable[[int], ProgramClient] | None:
        """As the target itself."""
        return self._target.preparing_client()

    def list(self, path: str) -> list[Entry]:
        """As the target itself; raises CalledOff, too, as all that follow."""
        return self._call(partial(self._target.list, path))

    def stat(self, path: str) -> Entry:
        """As the target itself."""
        return self._call(partial(self._target.stat, path))

    def read(self, path: str) -> Iterator[bytes]:
        """As the target itself."""
        pieces = self._call(lambda: iter(self._target.read(path)))
        while (piece := self._call(lambda: next(pieces, None))) is not None:
            yield piece

    def write(self, path: str, data: bytes) -> None:
        """As the target itself."""
        self._call(partial(self._target.write, path, data))

    def create(self, path: str, data: bytes) -> None:
        """As the target itself."""
        self._call(partial(self._target.create, path, data))

    def delete(self, path: str) -> None:
        """As the target itself."""
        self._call(partial(self._target.delete, path))

    def remove_tree(self, path: str) -> None:
        """As the target itself."""
        self._call(partial(self._target.remove_tree, path))

    def mkdir(self, path: str) -> None:
        """As the target itself."""
        self._call(partial(self._target.mkdir, path))

    def end_uploads(self, path: str) -> int:
        """As the target itself."""
        return self._call(partial(self._target.end_uploads, path))
