"""What was traced, as tables on the screen and as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from pileup.cli.messages import echo
from pileup.model.units import counted, format_size, format_time

if TYPE_CHECKING:
    from rich.table import Table

    from pileup.plugin.sessions.session import Session, Stretch
    from pileup.run.tracing.trace import Traced

PARTS = ("length", "network", "server", "client", "unexplained")


def middle(sessions: Sequence[Session], word: str) -> float:
    """Return the median over sessions of a number that each has."""
    return float(median(getattr(each, word) for each in sessions))


def typical(traced: Traced, added: int) -> Session:
    """Return the session at a distance that took the median time, the lower one of two."""
    found = sorted(traced.at(added), key=lambda each: each.length)
    return found[(len(found) - 1) // 2]


def print_trace(traced: Traced, title: str) -> None:
    """Print what a session is made of, where its time went at each distance, and whether the slope is k."""
    from pileup.cli.console import SafeConsole
    from pileup.cli.width import columns

    console = SafeConsole(width=columns(), highlight=False)
    echo(f"Trace of {title}")
    console.print(_contents(traced))
    console.print(_distances(traced))
    console.print(_steps(typical(traced, traced.distances[-1])))
    for told in remarks(traced):
        echo(told)


def remarks(traced: Traced) -> list[str]:
    """Return sentences: the check by distance, sessions that differ, what was not seen."""
    from pileup.model.distance import NOT_SHOWN

    found = [_check(traced)]
    trips = Counter(each.round_trips for each in traced.sessions)
    if len(trips) > 1:
        said = ", ".join(f"{k} in {counted(number, 'session')}" for k, number in sorted(trips.items()))
        found.append(f"Sessions differ in their round trips: {said}.")
    if traced.failed:
        common = max(set(traced.failed), key=traced.failed.count)
        found.append(f"{counted(len(traced.failed), 'session')} did not pass and are left out: {common}.")
    if traced.beside:
        found.append(
            f"{counted(traced.beside, 'redirect')} led past the relay: what was said there is not seen, its time is "
            "client time."
        )
    found.append(f"Note: {NOT_SHOWN}.")
    return found


def _check(traced: Traced) -> str:
    k = traced.round_trips
    line = traced.line
    if line is None:
        return f"k = {k} was counted and not checked: that takes several distances and at least 3 sessions."
    slope = f"{line.slope:.3f} round trips ({line.low:.3f} to {line.high:.3f}, 95 %)"
    told = f"k = {k} was counted; the time grows by {slope} with each that is added"
    agrees = line.agrees(k)
    if agrees is None:
        return f"{told}: too wide to decide; use more sessions (--times) or larger --added."
    if agrees:
        return f"{told}: they agree within 2 %."
    return f"{told}: they DISAGREE by more than 2 %."


def _table(*heads: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left")
    return table


def _contents(traced: Traced) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    one = typical(traced, traced.distances[-1])
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("Session")
    table.add_column("Counted")
    tls = Counter(str(handshake) for each in traced.sessions for handshake in each.tls)
    rows = [
        (
            "round trips, k",
            f"{one.round_trips}: {counted(one.connects, 'connect')}, {counted(one.turns, 'turn-around')}",
        ),
        ("connections", str(len(one.connections))),
        ("messages", f"{one.messages(0) + one.messages(1)}: {one.messages(0)} there, {one.messages(1)} back"),
        ("bytes", f"{format_size(one.size(0))} there, {format_size(one.size(1))} back"),
        ("TLS", ", ".join(f"{name} ({number}x)" for name, number in tls.items()) or "none seen"),
        ("round trip without the relay", format_time(one.base)),
        (
            "name look-up, once before",
            f"{format_time(traced.look_up)}, {counted(traced.addresses, 'address', 'addresses')}",
        ),
    ]
    if traced.direct is not None and traced.cost is not None:
        adds = format_time(traced.cost) if traced.cost > 0 else "nothing that shows"
        rows.append(("what tracing adds", f"{adds}; without it a session takes {format_time(traced.direct)}"))
    for row in rows:
        table.add_row(*row)
    return table


def _distances(traced: Traced) -> Table:
    table = _table("Added round trip", "Sessions", "Time", "= k x RTT", "+ server", "+ client", "+ unexplained")
    for added in traced.distances:
        sessions = traced.at(added)
        parts = [_time(middle(sessions, word)) for word in PARTS]
        table.add_row(_time(added), str(len(sessions)), *parts)
    return table


def _steps(session: Session) -> Table:
    """Return the chain of waits of one session, in the order of time."""
    from pileup.cli.trace.waterfall import named

    table = _table("At", "For", "Connection", "What it waited for")
    table.columns[-1].justify = "left"
    for each in shown(session):
        table.add_row(_time(each.begin - session.begin), _time(each.length), str(each.connection), named(each))
    return table


def shown(session: Session) -> list[Stretch]:
    """Return the stretches of a session that take time."""
    return [each for each in session.chain if each.length > 0]


def _time(nanoseconds: float) -> str:
    return format_time(nanoseconds) if nanoseconds >= 0 else f"-{format_time(-nanoseconds)}"


def as_data(traced: Traced, title: str) -> dict[str, object]:
    """Return all of it as plain data: times in ns, sizes in bytes."""
    line = traced.line
    return {
        "title": title,
        "round_trips": traced.round_trips,
        "line": line
        and {
            "slope": line.slope,
            "low": line.low,
            "high": line.high,
            "intercept": line.intercept,
            "agrees": line.agrees(traced.round_trips),
        },
        "look_up": {"time": traced.look_up, "addresses": traced.addresses},
        "direct": traced.direct,
        "tracing_adds": traced.cost,
        "failed": list(traced.failed),
        "beside_relay": traced.beside,
        "sessions": [_session(each) for each in traced.sessions],
    }


def _session(one: Session) -> dict[str, object]:
    words = ("added", "base", "round_trips", "connects", "turns", *PARTS)
    return {
        **{word: getattr(one, word) for word in words},
        "connections": len(one.connections),
        "messages": {"there": one.messages(0), "back": one.messages(1)},
        "bytes": {"there": one.size(0), "back": one.size(1)},
        "tls": [str(each) for each in one.tls],
        "chain": [
            {"what": each.kind, "begin": each.begin - one.begin, "length": each.length, "connection": each.connection}
            for each in one.chain
        ],
    }
