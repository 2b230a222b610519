"""A fleet: several places that generate one load together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from pileup._core._native import now
from pileup.fleet.asking import Answering
from pileup.fleet.order import Order, Work
from pileup.fleet.place import Claims, Reports
from pileup.fleet.python.client import Sink
from pileup.model.ending import FINISHED, Ending, EndingKind
from pileup.model.errors import TargetError
from pileup.model.manifest import PlaceEntry
from pileup.model.record import Frame

SLICE = 0.05
"""Longest time, s, until the other places notice the end of one."""

NOTICE = 60_000_000
"""Time before a new level holds, ns: native workers that wait look for news each 50 ms."""


class Part(Protocol):
    """The part of a load at one place."""

    lost: bool
    """Whether it ended because the place is lost."""

    @property
    def over(self) -> bool:
        """Whether nothing more starts and nothing is under way."""

    @property
    def ending(self) -> Ending:
        """How it ended; as finished while it goes on."""

    def ready(self) -> None:
        """Block until it can begin. Raises PileupError or ValueError when it cannot."""

    def begin(self, start: int) -> None:
        """Begin at a time (ns since the epoch; 0: now). Raises ValueError for what the engine refuses."""

    def wait(self, seconds: float) -> bool:
        """Block up to that long; True when it is over."""

    def stop(self, at_once: bool = False) -> None:
        """Start nothing more; `at_once` also gives up what is under way."""

    def set_level(self, level: float, at: int) -> None:
        """Change the level of a steered load, of the whole of it, from a time on (ns since the epoch)."""

    def frames(self) -> list[Frame]:
        """Return what happened since the last call."""

    def reported(self) -> Reports:
        """Return what Python tests reported since the last call."""

    def claimed(self) -> Claims:
        """Return what Python tests claimed since the last call."""

    def close(self) -> None:
        """Let the clients go once it is over."""

    def settle(self) -> None:
        """Count what a lost place has left, once the load is over everywhere."""

    def abandon(self) -> None:
        """Give it up, whether it has begun or not."""


class Place(Protocol):
    """One process that runs its shards of loads."""

    number: int
    name: str
    lost: str
    """Why it is lost, empty while it is there."""
    workers: int
    """Threads that native tests are pressed from, at most."""

    def entry(self) -> PlaceEntry:
        """Return what run.json says of the place."""

    def prepare(self, order: Order, work: Work, output: Sink, shard: tuple[int, int]) -> Part:
        """Return a part of a load, to be begun: shard (number from 0, of how many)."""

    def margin(self) -> int:
        """Return how long before its start a load must be reported, ns."""

    def flush(self) -> None:
        """Bring every row so far into the record."""

    def ledger_frames(self) -> list[Frame]:
        """Return what detached operations did since the last call."""

    def close(self) -> None:
        """End the place."""


class Pressing:
    """One load under way at the places of a fleet."""

    def __init__(
        self, order: Order, parts: Sequence[Part], margin: int = 0, answering: Answering | None = None
    ) -> None:
        self.order = order
        self._parts = parts
        self._margin = max(margin, NOTICE)
        self._answering = answering
        self._stopped = FINISHED

    @property
    def over(self) -> bool:
        """Whether nothing more starts and nothing is under way at any place."""
        return all(part.over for part in self._parts)

    @property
    def ending(self) -> Ending:
        """How it ended; as finished while it goes on. What went wrong in a set-up comes before all else."""
        there = [part for part in self._parts if not part.lost]
        endings = [part.ending for part in there or self._parts]
        failed = (ending for ending in endings if ending.kind is EndingKind.SET_UP_FAILED)
        early = (_seen_with_others(part) for part in self._parts if part.ending.early)
        return next(failed, None) or (self._stopped if self._stopped.early else next(early, FINISHED))

    def wait(self, seconds: float) -> bool:
        """Block up to that long; True when the load is over everywhere."""
        over = self._parts[0].wait(seconds) if len(self._parts) == 1 else self._wait_for_all(seconds)
        if over:
            for part in self._parts:
                part.settle()
        return over

    def _wait_for_all(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        for part in self._parts:
            while not part.wait(max(0.0, min(SLICE, until - time.monotonic()))):
                self._end_together()
                if time.monotonic() >= until:
                    return False
        return True

    def _end_together(self) -> None:
        """End the load at all places if it ended early at one; a lost place does not affect the others."""
        if not self._stopped.early:
            ended = [part for part in self._parts if part.over and not part.lost]
            early = next((part.ending for part in ended if part.ending.early), None)
            if early is not None:
                self._stopped = early
                self.stop()

    def stop(self, at_once: bool = False) -> None:
        """Start nothing more; `at_once` also gives up what is under way (recorded as unfinished)."""
        for part in self._parts:
            part.stop(at_once)

    def set_level(self, level: float) -> int:
        """Change the level of a steered load: clients, or iterations per second, of all places together.

        Returns the time from which on it holds at all of them, ns since the epoch. Raises ValueError for a load that
        is not steered, or a level out of its bounds.
        """
        at = now() + self._margin
        for part in self._parts:
            if not part.lost:
                part.set_level(level, at)
        return at

    def frames(self) -> list[Frame]:
        """Return what happened since the last call, of every place with news."""
        return [frame for part in self._parts for frame in part.frames()]

    def reported(self) -> Reports:
        """Return what Python tests reported since the last call."""
        return [number for part in self._parts for number in part.reported()]

    def claimed(self) -> Claims:
        """Return what Python tests claimed since the last call: (ns since the epoch, name, id, what)."""
        return [claim for part in self._parts for claim in part.claimed()]

    def close(self) -> None:
        """Let the clients go once the load is over."""
        for part in self._parts:
            part.close()
        if self._answering is not None:
            self._answering.close()


def _seen_with_others(part: Part) -> Ending:
    """Return how a part ended; a lost place counts only as lost while there are others."""
    return Ending(EndingKind.PLACE_LOST, part.ending.why) if part.lost else part.ending


def _answering(order: Order, work: Work, output: Sink) -> Answering | None:
    """Return what answers the clients of a load, if they ask anything. Raises PileupError or ValueError."""
    coordinator = None if work.coordinator is None else work.coordinator()
    return None if coordinator is None else Answering(coordinator, order.name, order.load.most or 0, output.note)


Reopen = Callable[[int, Place], Place]
"""`reopen(number, lost place)` gives a new one in its stead. Raises TargetError."""
TRIES = 3
"""How often in a row a lost place is replaced before it is given up."""


class Fleet:
    """Places that generate loads together. `reopen` gives a new place for a lost one; `end` is called at the close."""

    def __init__(
        self, places: Sequence[Place], reopen: Reopen | None = None, end: Callable[[], None] = lambda: None
    ) -> None:
        self.places = list(places)
        self._reopen = reopen
        self._end = end
        self._gone: list[Place] = []
        """Lost places that were replaced."""
        self._tries: dict[str, int] = {}

    @property
    def lost(self) -> list[Place]:
        """The lost places that were not replaced."""
        return [place for place in self.places if place.lost]

    def renew(self, first: int) -> list[Place]:
        """Open new places for those that are lost, numbered from `first` on, and return them.

        One that cannot be opened stays lost: the others take its share.
        """
        fresh: list[Place] = []
        for at, place in enumerate(self.places):
            if not place.lost or self._reopen is None or self._tries.get(place.name, 0) >= TRIES:
                continue
            try:
                self.places[at] = self._reopen(first + len(fresh), place)
            except TargetError:
                self._tries[place.name] = self._tries.get(place.name, 0) + 1
                continue
            self._tries.pop(place.name, None)
            fresh.append(self.places[at])
            self._gone.append(place)
        return fresh

    def _chosen(self, order: Order) -> list[Place]:
        """Return the places that a load asks for, lost or not."""
        wanted = order.places
        if wanted is None or isinstance(wanted, int):
            return [place for place in self.places if not place.lost][:wanted] or self.places
        return [place for number, place in enumerate(self.places, 1) if wanted & {str(number), place.name}]

    def _pressing(self, order: Order) -> list[Place]:
        """Return the places that press a load: those that it asks for, as far as they are there."""
        return [place for place in self._chosen(order) if not place.lost]

    def press(self, order: Order, work: Work, output: Sink) -> Pressing:
        """Begin a load, shared out over the places; several of them begin at one time on the common clock.

        Raises ValueError for a load or program that the engine refuses, TargetError when no place is left.
        """
        places = self._pressing(order)
        if not places:
            told = "; ".join(f"place {place.number} ({place.name}): {place.lost}" for place in self._chosen(order))
            raise TargetError(f"no place is left to run the load: {told}", "a place that answers")
        answering = _answering(order, work, output)
        work = replace(work, answerer=answering)
        works = [work.at(self.places.index(place) + 1) for place in places]
        shares = [(shard, len(places)) for shard in range(len(places))]
        parts = [
            place.prepare(order, mine, output, share) for place, mine, share in zip(places, works, shares, strict=True)
        ]
        try:
            for part in parts:
                part.ready()
            start = 0 if len(parts) == 1 else now() + max(place.margin() for place in places)
            for part in parts:
                part.begin(start)
        except BaseException:
            for part in parts:
                part.abandon()
            if answering is not None:
                answering.close()
            raise
        return Pressing(order, parts, max(place.margin() for place in places), answering)

    def workers(self, order: Order) -> int:
        """Return how many native workers a load takes at a place, the most."""
        places = self._pressing(order)
        loads = (
            order.at_place(place.number, shard, len(places), workers=place.workers)
            for shard, place in enumerate(places)
        )
        return max((load.used_workers for load in loads), default=1)

    def flush(self) -> None:
        """Bring every row so far into the record. Raises OSError when the disk refuses."""
        for place in self.places:
            place.flush()

    def ledger_frames(self) -> list[Frame]:
        """Return what detached operations did since the last call."""
        return [frame for place in (*self._gone, *self.places) for frame in place.ledger_frames()]

    def close(self) -> None:
        """End all places; detached operations that are open are unfinished."""
        self._end()
        for place in (*self._gone, *self.places):
            place.close()
