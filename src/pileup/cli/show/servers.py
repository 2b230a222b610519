"""What logs of servers say of the operations of clients, on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pileup.cli.show.layout import Column, Grid
from pileup.model.joined import Joined, OneSided, ServerClock
from pileup.model.results import RunResults
from pileup.model.units import counted, format_count, format_time

MOST = 20


def tables(results: RunResults) -> Iterator[Grid]:
    """Yield the table of shares, and that of what only one side saw in the measured time."""
    if results.joined:
        yield _joined(results.joined, results.clocks)
    alone = [each for each in results.one_sided if each.measured]
    if alone:
        yield _alone(alone)


def _joined(found: tuple[Joined, ...], clocks: tuple[ServerClock, ...]) -> Grid:
    times = (Column(title, "right") for title in ("Server", "p50", "p99", "Rest p50", "p99"))
    grid = Grid(
        (Column("Operation", "fold"), Column("Matched", "right"), *times),
        "The server's share of the time, by its own log",
    )
    several = len({each.monitor for each in found}) > 1
    for each in found[:MOST]:
        matched = f"{format_count(each.matched)} of {format_count(each.count)}"
        name = f"{_name(each)}, {each.monitor}" if several else _name(each)
        if each.matched and each.share is None:
            grid.add(name, matched, "not known", *["-"] * 4)
            continue
        share = f"{100 * each.share:.3g} %" if each.matched and each.share is not None else "-"
        quantiles = (each.served_p50, each.served_p99, each.rest_p50, each.rest_p99)
        grid.add(name, matched, share, *map(_time, quantiles))
    if len(found) > MOST:
        grid.notes.append("and more: see the report")
    grid.notes += _coarse(found)
    for clock in clocks:
        side = "ahead" if clock.ahead > 0 else "behind"
        off = f"{format_time(abs(clock.ahead))} {side}, within {format_time(clock.error)}"
        grid.notes.append(f"the clock of what {clock.monitor} reads was {off}: corrected")
    return grid


def _coarse(found: Iterable[Joined]) -> list[str]:
    """Return why shares of some monitors are not known, a sentence for each of them."""
    steps = {each.monitor: each.resolution for each in found if each.share is None}
    return [f"not known: the times of {name} are in steps of {format_time(step)}" for name, step in steps.items()]


def _alone(found: list[OneSided]) -> Grid:
    columns = (Column("Seen by"), Column("Log"), Column("Operation", "fold"), Column("Outcome"))
    grid = Grid((*columns, Column("Count", "right"), Column("Objects", "fold")), "Seen by one side only")
    for each in found[:MOST]:
        grid.add(each.side, each.monitor, each.name, each.outcome, format_count(each.count), ", ".join(each.keys))
    if len(found) > MOST:
        grid.notes.append(f"and {counted(len(found) - MOST, 'more row')}: see the report")
    return grid


def _name(each: Joined) -> str:
    return each.test if each.operation == each.test else f"{each.test}.{each.operation}"


def _time(value: float | None) -> str:
    return "too few" if value is None else format_time(value)
