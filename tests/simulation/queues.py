"""Simulated servers under loads that are looked for a level, in virtual time: what the judge of a trial sees of them.

FIFO with so many workers, service fixed or exponential, perhaps shedding: who comes when `room` are in the system is
refused at once. Clients give up after `timeout`; the server does their work all the same. Arrivals are evenly spaced,
as those of an open load that refuses more, or Poisson. Many trials are made at once, side by side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pileup._core._native import Histogram
from pileup.model.record import Frame, FrameRow, Phase

SECOND = 10**9
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Server:
    """Times in seconds. Its capacity is `workers / service`."""

    workers: int = 1
    service: float = 0.01
    exponential: bool = True
    room: int = 0
    """Most in the system, those that wait and those that are served; 0: any number."""
    timeout: float = 60.0
    poisson: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """Of one load: when each iteration was due (s), how long until it ended, and how."""

    due: Numbers
    took: Numbers
    refused: NDArray[np.bool_]
    timed_out: NDArray[np.bool_]

    @property
    def passed(self) -> NDArray[np.bool_]:
        """What was answered in time."""
        return ~(self.refused | self.timed_out)

    def after(self, time: float) -> Seen:
        """Only what was due from that time on."""
        kept = self.due >= time
        return Seen(self.due[kept], self.took[kept], self.refused[kept], self.timed_out[kept])

    @property
    def share_not_passed(self) -> float:
        """Of all that was due."""
        return float(1 - self.passed.mean())

    def quantile(self, share: float) -> float:
        """The quantile (s) of response times over all that was due: what did not pass is slower than any."""
        ordered = np.sort(np.where(self.passed, self.took, math.inf))
        return float(ordered[max(1, math.ceil(share * len(ordered))) - 1])


def loads(server: Server, levels: Numbers, seconds: float, random: np.random.Generator) -> list[Seen]:
    """Press levels (per second), each on a server of its own that is empty, for so long."""
    due = _arrivals(server, levels, seconds, random)
    trials, steps = due.shape
    work = random.exponential(server.service, due.shape) if server.exponential else np.full(due.shape, server.service)
    rows = np.arange(trials)
    free, inside = np.zeros((trials, server.workers)), np.zeros((trials, max(1, server.room)))
    response, refused = np.empty(due.shape), np.zeros(due.shape, dtype=bool)
    for step in range(steps):
        now = due[:, step]
        first = free.argmin(axis=1)
        ends = np.maximum(now, free[rows, first]) + work[:, step]
        if server.room:
            refused[:, step] = inside.min(axis=1) > now
            taken = ~refused[:, step]
            inside[rows[taken], inside.argmin(axis=1)[taken]] = ends[taken]
            free[rows[taken], first[taken]] = ends[taken]
        else:
            free[rows, first] = ends
        response[:, step] = ends - np.where(np.isfinite(now), now, 0.0)
    late = ~refused & (response > server.timeout)
    took = np.where(refused, 0.0005, np.minimum(response, server.timeout))
    real = np.isfinite(due)
    return [Seen(due[k][real[k]], took[k][real[k]], refused[k][real[k]], late[k][real[k]]) for k in range(trials)]


def _arrivals(server: Server, levels: Numbers, seconds: float, random: np.random.Generator) -> Numbers:
    """Return when iterations are due, one row per level; infinite beyond the last one."""
    most = float(levels.max()) * seconds
    steps = math.ceil(most + 8 * math.sqrt(most) + 8)
    if server.poisson:
        times = np.cumsum(random.exponential(1.0, (len(levels), steps)), axis=1) / levels[:, None]
    else:
        times = np.arange(steps)[None, :] / levels[:, None]
    return np.asarray(np.where(times < seconds, times, math.inf))


def frames(
    seen: Seen, settle: float, until: float, phases: tuple[Phase, Phase] = (Phase.RAMP, Phase.WARM_UP)
) -> list[Frame]:
    """Return what a place writes of a load, one frame per second; `phases` are those of settling and of what follows.

    The load ends at `until`. Of iterations that end in the same second and phase there is one row, which counts as done
    in the phase of that second all that ended in it.
    """
    ends = seen.due + seen.took
    seconds = np.floor(ends).astype(int)
    settling = seen.due < settle
    nanoseconds = np.maximum(1, seen.took * SECOND).astype(np.int64)
    made = []
    for second in np.unique(seconds).tolist():
        rows = []
        ended = seconds == second
        clock = phases[0] if second < settle else phases[1] if second < until else None
        for phase, of_phase in zip(phases, (settling, ~settling), strict=True):
            mine = ended & of_phase
            if mine.any() or clock is phase:
                done = int((ended & seen.passed).sum()) if clock is phase else 0
                rows.append(_row(phase, mine, seen, nanoseconds, done))
        made.append(_frame(second, phases[0] if second < settle else phases[1], tuple(rows)))
    return made


def _row(phase: Phase, mine: NDArray[np.bool_], seen: Seen, nanoseconds: NDArray[np.int64], done: int) -> FrameRow:
    times = Histogram()
    passed = mine & seen.passed
    for each in nanoseconds[passed].tolist():
        times.record(each)
    encoded = times.encode() if times.count else b""
    refused, failed = int((mine & seen.refused).sum()), int((mine & seen.timed_out).sum())
    return FrameRow(
        operation="q", iteration=True, phase=phase, passed=int(passed.sum()), failed=failed, refused=refused,
        ambiguous=0, unfinished=0, lost=0, bytes=0, calls=0, response=encoded, service=encoded, done=done,
    )  # fmt: skip


def _frame(second: int, phase: Phase, rows: tuple[FrameRow, ...]) -> Frame:
    return Frame(
        time=(second + 1) * SECOND, nanoseconds=SECOND, place=0, case=1, phase=phase, started=0, missed=0, in_flight=0,
        clients=64, cpu=0, late=b"", rows=rows,
    )  # fmt: skip
