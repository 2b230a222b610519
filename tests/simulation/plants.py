"""Simulated systems with dead time, to hold a quantity of: stepped by the second, everything random from a seed."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pileup.run.control.controller import MOST_DEAD, Controller, LevelBounds

STEPS = 10
"""Steps of the simulation per second."""


@dataclass(slots=True)
class Queue:
    """Jobs wait for one of the slots and hold it for a time; the scheduler starts jobs once in a cycle (s; 0: at once).

    Its length is seen so many seconds late (`dead`). One iteration of the load brings `each` jobs. No more than
    `starts` jobs are started in a second.
    """

    slots: int
    service: Callable[[np.random.Generator], float]
    dead: int
    cycle: float = 0.0
    each: int = 1
    waiting: int = 0
    starts: float = math.inf
    _time: int = 0
    _may: float = 0.0
    _made: float = 0.0
    _ends: list[float] = field(default_factory=list)
    _seen: deque[int] = field(default_factory=deque)

    def second(self, level: float, random: np.random.Generator) -> float:
        """Return what is seen of the queue after a second at so many iterations per second."""
        for _ in range(STEPS):
            self._time += 1
            self._made += level / STEPS
            new = int(self._made)
            self._made -= new
            self.waiting += new * self.each
            self._schedule(random)
        self._seen.append(self.waiting)
        return float(self._seen[max(0, len(self._seen) - 1 - self.dead)])

    def _schedule(self, random: np.random.Generator) -> None:
        now = self._time / STEPS
        while self._ends and self._ends[0] <= now:
            heapq.heappop(self._ends)
        if self.cycle and self._time % round(self.cycle * STEPS):
            return
        self._may = min(self._may, 1.0) + self.starts / STEPS
        while self.waiting and len(self._ends) < self.slots and self._may >= 1:
            self._may -= 1
            self.waiting -= 1
            heapq.heappush(self._ends, now + self.service(random))


@dataclass(slots=True)
class Lag:
    """A quantity that follows `gain` x level with a lag (s), seen late by `dead` seconds and with noise."""

    gain: float
    lag: float
    dead: int
    noise: float
    value: float = 0.0
    _seen: deque[float] = field(default_factory=deque)

    def second(self, level: float, random: np.random.Generator) -> float:
        """Return what is seen after a second at this level."""
        keep = math.exp(-1 / self.lag) if self.lag else 0.0
        self.value = keep * self.value + (1 - keep) * self.gain * level
        self._seen.append(self.value)
        return self._seen[max(0, len(self._seen) - 1 - self.dead)] + self.noise * float(random.standard_normal())


@dataclass(slots=True)
class Server:
    """Requests of one queue, first come, first served, by so many workers; log-normal service of a mean (s).

    Requests come at equal intervals. What is seen are those that wait or are served, seen late by `dead` seconds.
    """

    workers: int
    mean: float
    sigma: float
    """Standard deviation of the logarithm of the service time."""
    dead: int = 0
    value: float = 0.0
    _time: int = 0
    _due: float = 0.0
    _free: list[float] = field(default_factory=list)
    _ends: list[float] = field(default_factory=list)
    _seen: deque[float] = field(default_factory=deque)

    def second(self, level: float, random: np.random.Generator) -> float:
        """Return what is seen to be under way after a second at so many requests per second."""
        self._free = self._free or [0.0] * self.workers
        before, self._due = self._due, self._due + level
        for number in range(math.floor(before) + 1, math.floor(self._due) + 1):
            came = self._time + (number - before) / level
            begins = max(came, heapq.heappop(self._free))
            middle = math.log(self.mean) - self.sigma**2 / 2
            ends = begins + float(random.lognormal(middle, self.sigma))
            heapq.heappush(self._free, ends)
            heapq.heappush(self._ends, ends)
        self._time += 1
        while self._ends and self._ends[0] <= self._time:
            heapq.heappop(self._ends)
        self.value = float(len(self._ends))
        self._seen.append(self.value)
        return self._seen[max(0, len(self._seen) - 1 - self.dead)]


@dataclass(slots=True)
class Informed:
    """Knows how many requests a server answers in a second: it asks for these and for what is missing, or less."""

    set_point: float
    capacity: float
    high: float
    level: float

    def step(self, value: float) -> float:
        """Return the level for the next second: most of the way in one, as far as it can be gone."""
        self.level = min(max(self.capacity + 0.7 * (self.set_point - value), 0.0), self.high)
        return self.level


def held(
    plant: Queue | Lag | Server, controller: Controller | Informed, seed: int, settle: int, seconds: int
) -> list[float]:
    """Return the true values of every second after the system was given `settle` seconds to get there."""
    random = np.random.default_rng(seed)
    found = []
    for second in range(settle + seconds):
        seen = plant.second(controller.level, random)
        if second >= settle:
            found.append(float(plant.waiting if isinstance(plant, Queue) else plant.value))
        controller.step(seen)
    return found


def controller(set_point: float, band: float, high: float, sign: int = 1, most_dead: int = MOST_DEAD) -> Controller:
    """Return a controller for levels from 0 to `high`, which begins as a suite does that refuses more."""
    return Controller(set_point, band, LevelBounds(0.0, high, high / 10), high / 10, sign, most_dead)
