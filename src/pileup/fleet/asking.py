"""The way of what clients ask the coordinator of their load, and of its answers: at a place, and where pileup runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Protocol

from pileup._core._native import now
from pileup.fleet.wire import Message, WireError, whole
from pileup.model.errors import Failed, PileupError
from pileup.plugin.coordinator import Answered, Ask, Coordinator, Plain, Reply

Answer = Reply | tuple[int, str]
"""A reply, or a client and why there is none."""
Pass = Callable[[Sequence[Answer]], None]
LONGEST = 1000
"""Characters of the reason why there is no answer."""
UNANSWERED = "the coordinator of the test gave no answer"


class Answerer(Protocol):
    """What answers: the coordinator, or the way to it."""

    def take(self, asks: Sequence[Ask], answer: Pass) -> None:
        """Take questions; `answer` gets their answers, in any thread, as they come."""

    def leave(self, clients: Collection[int], lost: bool = False) -> None:
        """Take note that clients ask nothing more."""


class Asking:
    """What the clients of one load ask at one place. From any thread."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer
        self._lock = threading.Lock()
        self._unsent: list[Ask] = []
        self._waiting: dict[int, Future[Answered]] = {}
        self._sending = False
        self._closed = ""

    def of(self, client: int) -> ClientAsker:
        """Return the way of one client."""
        return ClientAsker(self, client)

    def ask(self, client: int, told: Plain, blob: bytes = b"", later: bool = False) -> Future[Answered]:
        """Ask, and return what gets the answer; `later` leaves the sending to a call of `send`."""
        answer: Future[Answered] = Future()
        with self._lock:
            if self._closed:
                answer.set_exception(Failed(self._closed, "a load that goes on"))
                return answer
            self._waiting[client] = answer
            self._unsent.append(Ask(client, told, blob))
        if not later:
            self.send()
        return answer

    def send(self) -> None:
        """Send what is asked: one thread sends for all, so what comes meanwhile goes together."""
        while True:
            with self._lock:
                if self._sending or not self._unsent:
                    return
                asks, self._unsent, self._sending = self._unsent, [], True
            try:
                self._answerer.take(asks, self.answer)
            finally:
                with self._lock:
                    self._sending = False

    def answer(self, answers: Sequence[Answer]) -> None:
        """Pass answers to those who wait for them."""
        for each in answers:
            client = each.client if isinstance(each, Reply) else each[0]
            with self._lock:
                waiting = self._waiting.pop(client, None)
            if waiting is None:
                continue
            with suppress(InvalidStateError):  # who asked has given up
                if isinstance(each, Reply):
                    waiting.set_result(each.told)
                else:
                    waiting.set_exception(Failed(each[1], "an answer", "stderr of the case has more"))

    def leave(self, client: int) -> None:
        """Say that a client asks nothing more."""
        if not self._closed:
            self._answerer.leave((client,))

    def close(self, why: str = "the load is over") -> None:
        """Give up what is not answered."""
        with self._lock:
            self._closed, waiting = why, list(self._waiting.values())
            self._waiting.clear()
        for each in waiting:
            with suppress(InvalidStateError):
                each.set_exception(Failed(why, "an answer"))


class ClientAsker:
    """The way of one client to the coordinator: an `Asker` of its test."""

    def __init__(self, asking: Asking, client: int) -> None:
        self._asking = asking
        self._client = client
        self.send = asking.send

    def ask(self, told: Plain, blob: bytes, *, later: bool = False) -> Future[Answered]:
        """Ask, and return what gets the answer."""
        return self._asking.ask(self._client, told, blob, later)


class Answering:
    """The coordinator of one load, with the clients of all places. From any thread."""

    def __init__(self, coordinator: Coordinator, name: str, clients: int, note: Callable[[str], None]) -> None:
        self._coordinator = coordinator
        self._name = name
        self._clients = clients
        """The most clients of the load; 0 if nobody knows."""
        self._note = note
        self._changed = threading.Condition()
        self._ways: dict[int, Pass] = {}
        """By client: the way of the answer that it waits for."""
        self._most = -1
        self._closed = False
        self._clock: threading.Thread | None = None

    def take(self, asks: Sequence[Ask], answer: Pass) -> None:
        """Do as an `Answerer` does."""
        for ask in asks:
            self._most = max(self._most, ask.client)
        self._act(lambda moment: self._coordinator.take(asks, moment), {ask.client: answer for ask in asks})

    def leave(self, clients: Collection[int], lost: bool = False) -> None:
        """Do as an `Answerer` does."""
        self._act(lambda moment: self._coordinator.leave(clients, lost, moment), {})

    def leave_shard(self, shard: int, shards: int, lost: bool) -> None:
        """Take note that the clients of a place ask nothing more."""
        self.leave(range(shard, max(self._most + 1, self._clients), shards), lost)

    def close(self) -> None:
        """End the coordinator; what it raises is noted."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
            try:
                self._coordinator.close()
            except Exception as problem:  # a plug-in's
                self._note(f"the coordinator of the test could not end: {_told(problem)}")

    def _act(self, act: Callable[[int], Iterable[Reply]], ways: Mapping[int, Pass]) -> None:
        with self._changed:
            if self._closed:
                return
            self._ways |= ways
            before = self._coordinator.wake
            answers = self._answers(act)
            if self._coordinator.wake != before:
                self._tick_at_wake()
        _send(answers)

    def _answers(self, act: Callable[[int], Iterable[Reply]]) -> dict[Pass, list[Answer]]:
        """Return answers by the way that they go."""
        found: dict[Pass, list[Answer]] = {}
        try:
            for reply in act(now()):
                if (way := self._ways.pop(reply.client, None)) is not None:
                    found.setdefault(way, []).append(reply)
        except Exception as problem:  # a plug-in's: nobody who waits would get an answer any more
            told = f"{UNANSWERED}: {_told(problem)}"
            self._note(told)
            for client, way in self._ways.items():
                found.setdefault(way, []).append((client, told))
            self._ways.clear()
        return found

    def _tick_at_wake(self) -> None:
        self._changed.notify_all()
        if self._clock is None:
            self._clock = threading.Thread(target=self._tick, name=f"{self._name} coordinator", daemon=True)
            self._clock.start()

    def _tick(self) -> None:
        while not self._closed:
            answers: dict[Pass, list[Answer]] = {}
            with self._changed:
                wake = self._coordinator.wake
                left = None if wake is None else (wake - now()) / 1e9
                if left is None or left > 0:
                    self._changed.wait(left)
                elif not self._closed:
                    self._coordinator.wake = None
                    answers = self._answers(self._coordinator.tick)
            _send(answers)


def _send(answers: Mapping[Pass, Sequence[Answer]]) -> None:
    for way, some in answers.items():
        way(some)


def _told(problem: Exception) -> str:
    text = str(problem) if isinstance(problem, PileupError) else f"{type(problem).__name__}: {problem}"
    return text[:LONGEST]


class WireAnswerer:
    """The way to the coordinator from a place in another process: messages to the parent."""

    def __init__(self, send: Callable[..., None], part: int) -> None:
        self._send = send
        self._part = part

    def take(self, asks: Sequence[Ask], answer: Pass) -> None:
        """Do as an `Answerer` does; answers come by `answers` messages."""
        plain = [[ask.client, ask.told] for ask in asks]
        self._send("asks", {"part": self._part, "asks": plain}, [ask.blob for ask in asks])

    def leave(self, clients: Collection[int], lost: bool = False) -> None:
        """Do as an `Answerer` does."""
        self._send("left", {"part": self._part, "clients": [*clients]})


def unpack_asks(message: Message) -> list[Ask]:
    """Return the questions of a message of kind `asks`. Raises WireError when they are none."""
    try:
        found = [(whole(client, "client"), told) for client, told in message["asks"]]
    except (TypeError, ValueError) as problem:
        raise WireError(f"these are no questions: {problem}"[:200], "client and question") from problem
    if len(found) != len(message.blobs) or not all(isinstance(told, dict) for _, told in found):
        raise WireError("these are no questions", "a mapping and bytes for each client")
    return [Ask(client, told, blob) for (client, told), blob in zip(found, message.blobs, strict=True)]


def unpack_clients(message: Message) -> list[int]:
    """Return the clients of a message of kind `left`. Raises WireError when they are none."""
    clients = message["clients"]
    if not isinstance(clients, list):
        raise WireError("the clients that left are no list", "a list of numbers")
    return [whole(each, "client") for each in clients]


def pack_answers(part: int, answers: Sequence[Answer]) -> Plain:
    """Return the fields of a message of kind `answers`."""
    plain = [[each.client, each.told, ""] if isinstance(each, Reply) else [each[0], None, each[1]] for each in answers]
    return {"part": part, "answers": plain}


def unpack_answers(message: Message) -> list[Answer]:
    """Return the answers of a message from the parent."""
    return [(client, why) if told is None else Reply(client, told) for client, told, why in message["answers"]]
