"""The conditions under which pileup is held against the logs: tests and the table of docs/truth.md share them."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.truth.press import (
    Condition,
    Pressed,
    Words,
    at_once,
    beside_loops,
    nothing_more,
    press,
    seconds,
    stopped_for,
)
from tests.truth.started import Server

QUEUE = ("fifo", "--workers", "1", "--law", "fixed:10")
"""100 /s: one worker, 10 ms each."""
CAPACITY = 100
OFFERED = (80, 120, 200, 2000)
COMPARED = ("120_alone", "200_alone")
THINK = 0.09
"""Seconds that a client of the closed loads thinks: with the 10 ms of its request ten clients offer 100 /s."""
LENGTH, RAMP, WARM_UP = 3, 1, 1
TIMEOUT = 1.0
Run = Callable[[], Pressed]


def overload(offered: int) -> list[Condition]:
    """Return the conditions of a rate that is offered: open and closed, at once and after a ramp and a warm-up."""
    few = {"clients": 50} if offered == 2000 else {}
    loads = {
        "open": {"rate": offered, **few},
        "closed": {"clients": offered // 10, "think": f"{round(THINK * 1000)} ms"},
    }
    found = []
    for kind, load in loads.items():
        found.append(Condition(f"{kind}_{offered}", QUEUE, load, LENGTH))
        found.append(Condition(f"{kind}_{offered}_warm", QUEUE, load, LENGTH, RAMP, WARM_UP))
    return found


# Each of the 1000 clients waits for up to 10 s: longer than the window.
LONG = Condition("open_long", QUEUE, {"rate": 2000}, LENGTH)

EXPONENTIAL = ("fifo", "--workers", "4", "--law", "exponential:20", "--seed", "3")
CALM = [
    Condition("calm_fixed", ("fifo", "--workers", "4", "--law", "fixed:20"), {"rate": 100}, 4),
    Condition("calm_exponential", EXPONENTIAL, {"rate": 120}, 4),
    Condition("calm_lognormal", ("fifo", "--workers", "8", "--law", "lognormal:20,0.5"), {"clients": 8}, 4),
]
REFUSED = Condition("refused", ("fifo", "--workers", "4", "--law", "fixed:10", "--refuse", "0.3"), {"rate": 150})
SHED = Condition("shed", (*QUEUE, "--shed", "5"), {"rate": 200})
TIMED_OUT = Condition("timed_out", QUEUE, {"rate": 200}, 3.4, timeout=TIMEOUT)
LATE = Condition("late", QUEUE, {"rate": 160}, 3, timeout=TIMEOUT)
"""Of 480 some 260 are answered in time: the median is known, the rest is slower than the timeout."""
STOPS = Condition("stops", ("fifo", "--workers", "4", "--law", "fixed:20", "--stop", "1,1"), {"rate": 100}, 4)
DEAD = Condition("dead", ("mute", "--looks"), {"rate": 50}, 3, timeout=TIMEOUT)
BUSY = Condition("busy", ("fifo", "--workers", "4", "--law", "fixed:20"), {"rate": 100}, 4)
STOPPED = Condition("stopped", ("fifo", "--workers", "4", "--law", "fixed:20"), {"rate": 100}, 10)
STOPPED_CLOSED = Condition("stopped_closed", ("fifo", "--workers", "4", "--law", "fixed:20"), {"clients": 4}, 8)
KILLED = Condition(
    "killed", ("keeper", "1", "--workers", "8", "--law", "exponential:30"), {"rate": 100, "clients": 200}, 11, timeout=2
)
"""Some that began later than those in its hands at the kill have passed by then."""
FAULTS = 3
HANDS = 40
IN_HANDS = Condition("in_hands", ("keeper", "1", "--workers", str(HANDS), "--law", "fixed:700"), {"clients": HANDS}, 4)
"""When it is killed 1 s after the begin, the second request of each client is in its hands."""
NOBODY = Condition("nobody", ("keeper", "60", "--workers", "8", "--law", "fixed:10"), {"clients": 8}, 3.5)
"""Killed 0.5 s after the begin, and not back: connections are refused."""
# Clients read up to 512 KiB at a time: at the edges of the window that is less than 1 % of what comes.
DRIP = Condition("drip", ("drip", "--size", "10000000", "--bandwidth", "20000000"), {"clients": 2}, 3, warm_up=0.7)
DRIP_LONG = Condition(
    "drip_long",
    ("drip", "--size", "200000000", "--bandwidth", "20000000"),
    {"clients": 2},
    3,
    warm_up=0.7,
    timeout=4,
)

SINGLE: Mapping[str, list[Condition]] = {
    "long": [LONG],
    "calm": CALM,
    "refused": [REFUSED, SHED],
    "timed_out": [TIMED_OUT, LATE],
    "stops": [STOPS],
    "drip": [DRIP, DRIP_LONG],
}


FIND_CAPACITY = 200
"""/s: two workers, 10 ms each."""
TWO = ("fifo", "--workers", "2", "--law", "fixed:10")
SEARCH = {"raise": "rate", "between": ["40 /s", "1000 /s"], "settle": "300 ms", "trial": "1500 ms", "at_most": 12}
FINDS = {
    # A queue that grows is seen in a trial: p90 passes the threshold once 9 % more comes than is served.
    "queue": (TWO, "p90(queue) < 150 ms", 0.0),
    # One that sheds never gets slow: what it refuses is what says that it is full.
    "shedding": ((*TWO, "--shed", "6"), "p90(shedding) < 150 ms", 0.0),
    # A timeout below the threshold: all that is answered is quick enough.
    "impatient": (TWO, "p90(impatient) < 500 ms", 0.2),
}
"""Name -> server, what must hold, timeout (s)."""
HELD = Condition(
    "held",
    ("fifo", "--workers", "8", "--law", "lognormal:100,0.8", "--seed", "5"),
    {
        "hold": {
            "metric": "in_flight(held)",
            "at": 20,
            "band": "50 %",
            "by": "rate",
            "between": ["1 /s", "200 /s"],
            "settle": "8 s",
            "every": "1 s",
        },
        "for": "12 s",
    },
    12,
)
PAIR = Condition("pair", ("fifo", "--workers", "8", "--law", "fixed:20"), {"clients": 4}, 1)
WAYS = ("way?ms=20", "way?ms=23")
REPEATS = 5


def levels(folder: Path) -> Mapping[str, Run]:
    """Return the runs that look for a level, hold one, or compare pairs."""
    found: dict[str, Run] = {}
    for name, (server, check, timeout) in FINDS.items():
        load = {"find": {**SEARCH, "while": check}, "for": "2 s"}
        found[name] = partial(press, folder / name, [Condition(name, server, load, 2, timeout=timeout)])
    found["held"] = partial(press, folder / "held", [HELD])
    scan = {"scan": {"pair.path": list(WAYS)}, "repeat": REPEATS}
    found["pair"] = partial(press, folder / "pair", [PAIR], lambda _: scan)
    return found


TIMED_OUT_CRITERIA = {
    "S1": "p90(timed_out) < 2 s",
    "S2": "p90(timed_out) < 900 ms",
    "S3": "p90(timed_out) > 900 ms",
    "S4": "p90(timed_out.passed_response) < 1.1 s",
}


def criteria(checks: Mapping[str, str]) -> Words:
    """Return these criteria."""
    return lambda _: {"criteria": [{"id": number, "says": check, "check": check} for number, check in checks.items()]}


CRITERIA = {"timed_out": criteria(TIMED_OUT_CRITERIA)}


def overloads(folder: Path) -> Mapping[str, Run]:
    """Return the runs of the overload table."""
    found: dict[str, Run] = {f"offered_{rate}": partial(press, folder / str(rate), overload(rate)) for rate in OFFERED}
    for name in COMPARED:
        load = {"rate": int(name.split("_")[0])}
        found[f"offered_{name}"] = partial(press, folder / name, [Condition("load", QUEUE, load, 5)])
    return found


def singles(folder: Path) -> Mapping[str, Run]:
    """Return the runs of what needs nothing beside it."""
    return {
        name: partial(press, folder / name, conditions, CRITERIA.get(name, nothing_more))
        for name, conditions in SINGLE.items()
    }


def dead(folder: Path) -> Pressed:
    """Press a server that never answers, beside two busy loops."""
    more = criteria({"D1": "rate(dead) >= 10 /s"})
    return press(folder, [DEAD], more, beside_loops(2, DEAD.length + 2, DEAD.name))


def busy(folder: Path) -> Pressed:
    """Press a healthy server on a machine that has other work."""
    return press(folder, [BUSY], beside=beside_loops(2, BUSY.length, BUSY.name))


def stopped(folder: Path) -> Pressed:
    """Stop pileup for 0.4 s in 10 s."""
    return press(folder, [STOPPED], beside=stopped_for(0.4, 400, STOPPED.name))


def stopped_closed(folder: Path) -> Pressed:
    """Stop pileup for 3 s in 8 s of a closed load."""
    return press(folder, [STOPPED_CLOSED], beside=stopped_for(3, 400, STOPPED_CLOSED.name))


def killed(folder: Path) -> Pressed:
    """Kill a server three times, with kill -9; it is back after about a second."""
    return press(folder, [KILLED], kills(KILLED.name, *(1 + 3 * number for number in range(FAULTS))))


def kills(name: str, *at: float) -> Words:
    """Return the faults that kill a server at these times."""

    def words(servers: Mapping[str, Server]) -> Mapping[str, Any]:
        kill = {"do": "command", "run": f"kill -USR1 {servers[name].process.pid}"}
        return {"faults": [{"name": f"kill{n}", "at": seconds(when), **kill} for n, when in enumerate(at)]}

    return words


def disturbed(folder: Path) -> Mapping[str, Run]:
    """Return the runs in which pileup is stopped or the server is killed: all wait for most of their time."""
    return {
        "stopped": partial(stopped, folder / "stopped"),
        "stopped_closed": partial(stopped_closed, folder / "stopped_closed"),
        "killed": partial(killed, folder / "killed"),
        "in_hands": partial(press, folder / "in_hands", [IN_HANDS], kills(IN_HANDS.name, 1)),
        "nobody": partial(press, folder / "nobody", [NOBODY], kills(NOBODY.name, 0.5)),
    }


def on_busy_machine(folder: Path) -> Mapping[str, Run]:
    """Return the runs beside busy loops."""
    return {"dead": partial(dead, folder / "dead"), "busy": partial(busy, folder / "busy")}


def pressed(found: Mapping[str, Run], most: int = 6) -> dict[str, Pressed]:
    """Press them, so many at a time."""
    return at_once(found, most)
