"""Stat of a file by 1,000 XRootD sessions of one process at full rate, and 4,000 sessions of one process at once.

CPU time of a stat, by the engine of pileup with its full record, by the official bindings, which record nothing, and by
the least that can do it: a loop in C that can do nothing else, with a row and a count in a histogram for each stat.

All are closed loops: each session asks again when its answer is there. The bindings are asked by callbacks, the way
that costs them least; user names make them sessions of their own. All sessions are logged in before the window begins.
"""

from __future__ import annotations

import importlib.util
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import meter
import storage_servers
from figures import Report, progress
from peers import CC, XROOTD, here, versions
from ratios import Bar, level, ratio

FEW, SESSIONS, MANY = 64, 1000, 4000
WARM, WINDOW = 0.8, 2.0
FILE = "small"
STATISTICS = 1
"""Code of the query (XProtocol.hh, kXR_QStats)."""
AT_MOST = Bar(most=1 / 3)
CLOSE = Bar(most=1.18)
"""To the loop in C."""
INSTALL = "pip install 'pileup[xrootd]'"


def by_engine(url: str, sessions: int, seconds: float = WINDOW) -> list[str]:
    """Return the command of pileup's own client."""
    load = {"clients": sessions, "warm_up": int(WARM * 1e9), "for": int(seconds * 1e9), "timeout": 30 * 10**9}
    order = {
        "load": load,
        "client": {"protocol": "xroot", "settings": {"url": url}},
        "step": {"verb": "stat", "keys": {"names": [FILE]}},
        "every": 0.25,
    }
    return [sys.executable, str(Path(__file__).with_name("drive.py")), json.dumps(order)]


def by_bindings(url: str, sessions: int) -> list[str]:
    """Return the command of the bindings."""
    program = str(Path(__file__).with_name("stat_of_bindings.py"))
    return [sys.executable, program, url, str(sessions), FILE, str(WARM), str(WINDOW)]


def by_loop(program: Path, url: str, sessions: int, seconds: float = WINDOW) -> list[str]:
    """Return the command of the loop in C."""
    parts = urlsplit(url)
    where = [str(program), str(parts.hostname), str(parts.port), str(sessions), f"/{parts.path.strip('/')}/{FILE}"]
    return [*where, str(WARM), str(seconds), str(program.with_name("loop.table"))]


def compiled(folder: Path) -> Path:
    """Compile the loop in C."""
    program, source = folder / "loop_of_stat", Path(__file__).with_name("loop_of_stat.c")
    subprocess.run([str(CC.path()), "-O2", "-o", str(program), str(source)], check=True)
    return program


def once(command: list[str]) -> dict[str, Any]:
    """Run it on the generator's core; return what it printed. A stat that failed ends the benchmark."""
    words = meter.pinned(meter.GENERATOR_CORE, command)
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    try:
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise meter.Trouble(f"no figure came; expected one (it said: {done.stderr[-1000:]})") from None
    if told["failed"] or not told["window"]:
        raise meter.Trouble(f"{told['failed']} stats failed; expected none (check the server's log)")
    return told


def statistics_of(url: str) -> str:
    """Return what the server reports of itself, as XML."""
    from pileup._core._native import Session  # noqa: PLC0415  the other benchmarks do without

    session = Session("xroot", json.dumps({"url": url}))
    text = session.query(STATISTICS, "a").decode()
    session.close()
    return text


def counted(url: str) -> dict[str, int]:
    """Return what the server counts: the most connections that it has had at once, and logins."""
    text = statistics_of(url)
    found = {name: re.search(f"<{name}>(\\d+)</{name}>", text) for name in ("maxn", "lgn")}
    found["logins"] = re.search(r"<lgn><num>(\d+)</num>", text)
    return {name: int(match[1]) for name, match in found.items() if match}


def run(folder: Path, pairs: int) -> Report:
    """Take the figures."""
    meter.need_two_cores()
    meter.open_files()
    if not here(XROOTD):
        raise meter.Trouble(f"XRootD is not here; expected it as the server (to get it: {XROOTD.get})")
    if importlib.util.find_spec("XRootD") is None:
        raise meter.Trouble(f"the bindings are not here; expected them to compare with ({INSTALL})")
    storage_servers.prepare(folder, {FILE: 1000})
    with storage_servers.xrootd(folder) as grid:
        url = grid.urls["root"]
        commands = {"bindings": by_bindings(url, SESSIONS), "engine": by_engine(url, SESSIONS)}
        if here(CC):  # what is compared runs one right after the other
            program = compiled(folder)
            commands |= {
                "loop": by_loop(program, url, SESSIONS),
                f"engine, {FEW} sessions": by_engine(url, FEW),
                f"loop, {FEW} sessions": by_loop(program, url, FEW),
            }
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
        for number in range(pairs):
            for name in commands if number % 2 == 0 else reversed(commands):
                runs[name].append(once(commands[name]))
                told = runs[name][-1]["window"]
                progress(f"{name} {told['us']:.1f} µs, {told['count'] / told['seconds']:,.0f} /s")
        many = once(by_engine(url, MANY))
        runs["many"] = [many | counted(url)]
    return Report(
        about=" ".join((__doc__ or "").split()),
        figures=figures({name: [one["window"]["us"] for one in of] for name, of in runs.items()}, runs["many"][0]),
        levels={name: _levels(of) for name, of in runs.items()},
        runs=runs,
        commands={**commands, "many": by_engine(url, MANY)},
        versions=versions([XROOTD]) | {"xrootd bindings": _version()},
    )


def figures(us: dict[str, list[float]], many: dict[str, Any]) -> dict[str, Any]:
    """Return CPU time of a stat, its ratio to the others', and how many sessions there were at once."""
    pairs = {"": ("engine", "loop"), f", {FEW} sessions": (f"engine, {FEW} sessions", f"loop, {FEW} sessions")}
    loops = {
        f"CPU of a stat, engine / loop in C{end}": ratio(us[ours], us[theirs], CLOSE)
        for end, (ours, theirs) in pairs.items()
        if theirs in us
    }
    return loops | {
        "CPU of a stat, engine / bindings": ratio(us["engine"], us["bindings"], AT_MOST),
        "CPU µs of a stat, engine": level(us["engine"]),
        "CPU µs of a stat, bindings": level(us["bindings"]),
        "sessions at once, by the server": level([float(many["maxn"])], Bar(least=MANY)),
        "CPU µs of a stat, 4,000 sessions": level([many["window"]["us"]]),
        "KiB of memory for each of 4,000": level([(many["memory"] - many["memory_before"]) / MANY / 1024]),
    }


def _levels(runs: list[dict[str, Any]]) -> dict[str, float]:
    windows = [one["window"] for one in runs]
    return {
        "CPU µs": statistics.median(one["us"] for one in windows),
        "stats per second": statistics.median(one["count"] / one["seconds"] for one in windows),
    }


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    return version("xrootd")
