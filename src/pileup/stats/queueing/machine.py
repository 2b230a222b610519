"""Stagers, a tape library and processes, without a clock: one run of a system, from event to event."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import NamedTuple


class Service(NamedTuple):
    """How long a drive was busy with a file, and how long the transfer at the end of that took; ns."""

    busy: int
    transfer: int


@dataclass(frozen=True)
class Drives:
    """The drives of a library: how many, how long they take, and which file is next."""

    number: int
    change: Sequence[Service]
    """Files of another group than the one that the drive read before."""
    same: Sequence[Service]
    """Files of the group that it read before."""
    affinity: float
    """How often a drive goes on with the group that it has while an older request waits; share of 1."""
    alone: bool
    """Whether no two drives read files of one group at a time."""

    def again(self, random: Random) -> Drives:
        """Return them with times drawn from theirs: a bootstrap sample."""
        change = random.choices(self.change, k=len(self.change))
        return replace(self, change=change, same=random.choices(self.same, k=len(self.same)))


class Asks(NamedTuple):
    """A project: who runs it where, what it asks for, in this order, and how many files before the first is there."""

    client: int
    node: str
    start: int
    groups: tuple[str, ...]
    ahead: int
    pause: int = 0
    """How long after the project before of the same client it begins, ns."""


@dataclass(frozen=True)
class Demand:
    """All projects, those of a client one after another, and times of work on a file to draw from (ns)."""

    projects: Sequence[Asks]
    opening: Sequence[tuple[int, int]]
    """When the first project of a client asks for the files it asks for at its beginning: (time, client), in order."""
    work: Sequence[int]

    def again(self, random: Random) -> Demand:
        """Return it with times of work drawn from its: a bootstrap sample."""
        return replace(self, work=random.choices(self.work, k=len(self.work)))


@dataclass(slots=True)
class _File:
    owner: _Running
    group: str
    asked: int
    handed: int = 0
    taken: bool = False


@dataclass(slots=True)
class _Running:
    asks: Asks
    start: int
    asked: int = 0
    arrived: int = 0
    opened: int = 0
    working: bool = False


class Run:
    """One run of a system; `figures` says what came out."""

    def __init__(self, drives: Drives, demand: Demand, limit: int | None, random: Random) -> None:
        self._drives, self._demand, self._limit, self._random = drives, demand, limit, random
        self._due: list[tuple[int, int, Callable[[int], None]]] = []
        self._number = count()
        self._before: dict[str, deque[_File]] = defaultdict(deque)
        """Files at the stager of a node."""
        self._inside: dict[str, int] = defaultdict(int)
        self._waiting: deque[_File] = deque()
        self._of_group: dict[str, deque[_File]] = defaultdict(deque)
        self._mounted: list[str | None] = [None] * drives.number
        self._free = dict.fromkeys(range(drives.number))
        self._read: set[str] = set()
        self._later: dict[int, deque[Asks]] = defaultdict(deque)
        self._running: dict[int, _Running] = {}
        self._first, self._last = 0, 0
        self._sums: dict[str, int] = dict.fromkeys(("project", "stager_queue", "queue_wait", "idle"), 0)

    def figures(self) -> dict[str, float]:
        """Run all projects, and return the figures that `history.FIGURES` names, in ns."""
        for asks in sorted(self._demand.projects, key=lambda each: each.start):
            first = asks.client not in self._later
            self._later[asks.client].append(asks)
            if first:
                self._plan(asks.start, partial(self._begin, client=asks.client))
        for time, client in self._demand.opening:
            self._plan(time, partial(self._ask_first, client=client))
        self._first = self._due[0][0]
        while self._due:
            now, _, act = heappop(self._due)
            act(now)
        files = sum(len(each.groups) for each in self._demand.projects)
        over = {name: sum_ / files for name, sum_ in self._sums.items()}
        over["project"] = self._sums["project"] / len(self._demand.projects)
        return {"all": float(self._last - self._first), **over}

    def _plan(self, time: int, act: Callable[[int], None]) -> None:
        heappush(self._due, (time, next(self._number), act))

    def _begin(self, now: int, client: int) -> None:
        self._running[client] = _Running(self._later[client].popleft(), now)

    def _ask_first(self, now: int, client: int) -> None:
        self._ask(now, self._running[client])

    def _next(self, now: int, client: int) -> None:
        """Begin another project of a client."""
        self._begin(now, client)
        for _ in range(self._running[client].asks.ahead):
            self._ask(now, self._running[client])

    def _ask(self, now: int, project: _Running) -> None:
        if project.asked < len(project.asks.groups):
            file = _File(project, project.asks.groups[project.asked], now)
            project.asked += 1
            self._before[project.asks.node].append(file)
            self._hand_over(now, project.asks.node)

    def _hand_over(self, now: int, node: str) -> None:
        queue = self._before[node]
        while queue and (self._limit is None or self._inside[node] < self._limit):
            file = queue.popleft()
            file.handed = now
            self._sums["stager_queue"] += now - file.asked
            self._inside[node] += 1
            self._waiting.append(file)
            self._of_group[file.group].append(file)
            self._assign(now)

    def _assign(self, now: int) -> None:
        """Give what waits to free drives; one that has the group goes first."""
        while self._free and (file := self._oldest()):
            drive = next((each for each in self._free if self._mounted[each] == file.group), next(iter(self._free)))
            self._serve(now, drive, file)

    def _oldest(self) -> _File | None:
        """Return the oldest file that a drive may take."""
        while self._waiting and self._waiting[0].taken:
            self._waiting.popleft()
        if not self._drives.alone:
            return self._waiting[0] if self._waiting else None
        return next((each for each in self._waiting if not each.taken and each.group not in self._read), None)

    def _serve(self, now: int, drive: int, file: _File) -> None:
        file.taken = True
        self._of_group[file.group].remove(file)
        kind = self._drives.same if self._mounted[drive] == file.group else self._drives.change
        service = self._random.choice(kind)
        self._free.pop(drive, None)
        self._mounted[drive] = file.group
        self._read.add(file.group)
        self._sums["queue_wait"] += now + service.busy - service.transfer - file.handed
        self._plan(now + service.busy, partial(self._delivered, drive=drive, file=file))

    def _delivered(self, now: int, drive: int, file: _File) -> None:
        self._read.discard(file.group)
        self._free[drive] = None
        of_group = self._of_group[file.group]
        if of_group and (self._drives.affinity >= 1 or self._random.random() < self._drives.affinity):
            self._serve(now, drive, of_group[0])
        self._assign(now)
        node = file.owner.asks.node
        self._inside[node] -= 1
        self._hand_over(now, node)
        file.owner.arrived += 1
        self._open(now, file.owner)

    def _open(self, now: int, project: _Running) -> None:
        """Let a process that waits work on a file that is there."""
        if not project.working and project.arrived > project.opened:
            project.opened += 1
            project.working = True
            self._ask(now, project)
            took = self._random.choice(self._demand.work)
            self._sums["idle"] -= took
            self._plan(now + took, partial(self._worked, project=project))

    def _worked(self, now: int, project: _Running) -> None:
        project.working = False
        if project.opened < len(project.asks.groups):
            self._open(now, project)
            return
        self._last = max(self._last, now)
        self._sums["project"] += now - project.start
        self._sums["idle"] += now - project.start
        if later := self._later[project.asks.client]:
            self._plan(now + later[0].pause, partial(self._next, client=project.asks.client))
