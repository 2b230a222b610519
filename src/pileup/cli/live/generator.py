"""The generator in one line of the screen: CPU and lateness of the place that is worst off."""

from __future__ import annotations

from dataclasses import dataclass

from pileup.cli.live.state import CaseState, State
from pileup.model import self_metrics
from pileup.model.record import Phase
from pileup.model.units import format_time
from pileup.record.tally import merged

BUSY = 90.0
"""CPU of a place, % of each core that it may press from, at which pileup is the bottleneck (as in
stats/generator/holdups.py)."""
LATE_SHARE = 0.5
LATE_LEAST = 5 * 10**6
LATE_LOOP = 0.05
"""Seconds by which an event loop may come late."""
STALE = 5 * 10**9
"""Samples older than this, ns, are no news."""


@dataclass(frozen=True, slots=True)
class GeneratorLine:
    """The line, and whether pileup is the bottleneck now."""

    text: str
    limit: bool


def words(state: State) -> GeneratorLine | None:
    """Return the line; None when nothing is known yet, or the run has ended."""
    newest = {key: value for key, (value, _) in state.metrics.items() if key[0] == self_metrics.MONITOR}
    if not newest or state.ended or state.now - state.watched > STALE:
        return None
    cpu = _worst(newest, self_metrics.CPU)
    late = max((_late(case) for case in state.running), default=0)
    loop, lag = _worst(newest, self_metrics.LOOP_LAG), _worst(newest, self_metrics.LAG)
    reasons = [
        f"CPU {cpu:.0f} % of a core" if cpu > BUSY * max((case.workers for case in state.running), default=1) else "",
        "starts late" if any(_is_late(case) for case in state.running) else "",
        "event loop late" if loop > LATE_LOOP else "",
    ]
    parts = [
        f"CPU {cpu:.0f} %",
        f"starts {format_time(late)} late" if late else "",
        f"event loop {format_time(loop * 1e9)} late" if loop else "",
        f"wake-ups {format_time(lag * 1e9)} late",
        f"waits {_worst(newest, self_metrics.RUN_QUEUE):.0f} % for a CPU",
    ]
    text = "  ".join(part for part in parts if part)
    found = [reason for reason in reasons if reason] if state.running else []
    return GeneratorLine(f"is the bottleneck ({', '.join(found)})  {text}" if found else text, bool(found))


def _worst(newest: dict[tuple[str, str, str], float], metric: str) -> float:
    return max((value for (_, name, _), value in newest.items() if name == metric), default=0.0)


def _late(case: CaseState, share: float = 0.99) -> int:
    """Return a quantile of the scheduling delays of the newest frames of a case, ns; 0 where nothing began."""
    found = merged(frame.late for frame in case.tally.places.values())
    return min(found.quantile(share), found.max) if found.count else 0


def _is_late(case: CaseState) -> bool:
    """Return whether starts come late though clients are free."""
    tally = case.tally
    if tally.phase != Phase.MEASURE or (case.rate and any(_starved(case))):
        return False
    # where less than half passed there is no median that a late start could have made longer
    return _late(case, 0.5) > max(LATE_SHARE * tally.now().median, LATE_LEAST)


def _starved(case: CaseState) -> list[bool]:
    return [frame.missed > 0 or frame.in_flight >= frame.clients > 0 for frame in case.tally.places.values()]
