"""Made-up results of runs for the tests of reports: rich, empty, huge, and full of things that must be escaped."""

import math
import random
from dataclasses import fields, replace
from functools import cache
from typing import Any

from pileup._core._native import Histogram
from pileup.model import check as checks
from pileup.model.bottleneck import BottleneckRow, LimitedBy
from pileup.model.breakdown import Breakdown, LabelFigure, LabelLine
from pileup.model.exits import ExitCode
from pileup.model.figures import Counts, Figure, Note
from pileup.model.joined import Joined, OneSided, ServerClock
from pileup.model.manifest import CaseEntry, Manifest, SuiteSource
from pileup.model.results import (
    CaseResult,
    CriterionResult,
    ErrorGroup,
    Event,
    PointVerdict,
    RunResults,
    Served,
    Timeline,
)
from pileup.model.verdict import RunVerdict, Verdict
from pileup.stats.compare import matrix
from pileup.stats.compare.matrix import CellTimes
from pileup.stats.compare.points import comparisons, points
from pileup.stats.frames.distribution import DueDurations
from tests.manifests import run_of
from tests.unit.builtin.reports.pieces import (
    BEGIN,
    HOSTILE,
    SECOND,
    figure,
    monitors,
    not_run,
    once,
    sustained,
    timeline,
    waiting,
)


def run_info(title: str = "Copy stress on the new disk servers", **more: Any) -> Manifest:
    """What run.json says."""
    told = {
        "format": 1,
        "title": title,
        "about": "For the purchase of 2027: do the new disk servers carry what an analysis facility asks of them?",
        "labels": {"automation": "manual", "scale": "stress", "environment": "test"},
        "seed": 2004,
        "state": "ended",
        "started": BEGIN,
        "ended": BEGIN + 62 * SECOND,
        "suite": {
            "source": "examples/first-run.yaml",
            "text": "pileup: 1\ntitle: Copy stress\ntests:\n  - name: copy\n    use: storage.copy\n",
            "digest": "9f2c" * 16,
            "values": {"clients": "8"},
        },
        "versions": {"pileup": "0.1.0", "engine source": "0123456789ab", "python": "3.11.7", "numpy": "2.4.1"},
        "hosts": [
            {
                "name": "wn042",
                "system": "Debian GNU/Linux 12",
                "kernel": "6.1.0",
                "machine": "x86_64",
                "cpus": 8,
                "memory": 8 * 2**30,
                "open_files": 1048576,
                "load1": 1 / 3,
            }
        ],
        "targets": [
            {
                "name": "se",
                "kind": "practice-storage",
                "url": "http://127.0.0.1:41234/",
                "launched": True,
                "about": "pileup practice storage 0.1.0",
            },
            {"name": "disk", "kind": "posix", "url": "/data/scratch", "launched": False, "about": "ext4"},
        ],
        "places": [{"number": 0, "name": "local", "host": "wn042"}],
        "cases": [],
        "monitors": [
            {"name": "node", "use": "node", "every": SECOND // 2},
            {"name": "server", "use": "process", "every": SECOND // 2},
        ],
        "criteria": [],
        "stopped": "",
        "exit_code": 4,
        "verdict": "failed",
        "debug_build": False,
    }
    return run_of({**told, **more})


def asked(judged: CriterionResult) -> CriterionResult:
    """The same with its check read, as statistics give it."""
    if not judged.check:
        return judged
    read = checks.parse(judged.check)
    return replace(judged, asked=read, selected=checks.resolve(read, ("copy", "stat", "climb"), ("node",)))


def criteria() -> tuple[CriterionResult, ...]:
    """One of each verdict."""
    found = (
        CriterionResult(
            "C1",
            "At least 1 MB/s are delivered",
            "rate(copy.bytes) >= 1 MB/s",
            "full",
            Verdict.MET,
            figure(9.8e6, "bandwidth", 2550),
            ">= 1 MB/s",
            "",
        ),
        CriterionResult(
            "C2",
            "Fewer than 1 in 1000 copies fail",
            "fraction(copy.failed) < 0.1 %",
            "full",
            Verdict.NOT_MET,
            figure(0.0047, "fraction", 2562, 0.5),
            "< 0.1 %",
            "0.469 % of 2,562 failed",
        ),
        CriterionResult(
            "C3",
            "p99.9 stays below a second",
            "p99.9(stat.response) < 1 s",
            "full",
            Verdict.UNKNOWN,
            Figure(None, "time", n=120, note=Note.TOO_FEW),
            "< 1 s",
            "too few: 120, 1,000 are needed",
        ),
        CriterionResult(
            "C4",
            "The machine stays usable",
            "max(node.load1) < 50",
            "partial",
            Verdict.MET,
            Figure(2.9, "", None, 124),
            "< 50",
            "",
        ),
        CriterionResult("C5", "Operators find the logs helpful", "", "none", Verdict.NOT_COVERED, Figure(None), "", ""),
        CriterionResult(
            "C6",
            "Nine of ten copies take less than 40 ms",
            "p90(copy.response) < 40 ms",
            "full",
            Verdict.NOT_MET,
            figure(44e6, "time", 2550),
            "< 40 ms",
            "p90(copy.response) is 44 ms, not < 40 ms",
        ),
        CriterionResult(
            "C7",
            "The load average stays below 3",
            "max(node.load1) < 3",
            "full",
            Verdict.MET,
            Figure(2.9, "", None, 124),
            "< 3",
            "",
        ),
    )
    return tuple(map(asked, found))


@cache
def rich() -> RunResults:
    """A run of a minute with everything in it."""
    cases = (
        once(1, "tools", 0.1),
        once(2, "fill", 0.4),
        sustained(
            3,
            "copy",
            2,
            20,
            load="closed, 8 clients for 17 s after 2 s ramp and 1 s warm-up",
            steps=("open", "read", "close"),
            size=65536,
        ),
        sustained(
            4,
            "stat",
            24,
            20,
            rate=40.0,
            median=4e6,
            sigma=0.6,
            size=0,
            outcome="failed",
            reason="fraction(stat.failed) > 0 % holds: 0.4 %",
            notes=("start errors above 1 ms in 3 of 20 seconds",),
        ),
        sustained(
            5,
            "disk-read",
            46,
            14,
            rate=900.0,
            clients=2,
            median=1.5e6,
            sigma=0.8,
            size=4 << 20,
            load="closed, 2 clients for 11 s",
        ),
        once(6, "list", 61, "failed", "3 entries, expected 100"),
        not_run(7, "delete", "not run: needs list, which failed"),
        not_run(8, "tape", "credentials have expired; expected a valid token (pileup describe webdav)", "unavailable"),
    )
    errors = (
        ErrorGroup(
            "copy",
            "read",
            "failed",
            "checksum differs at byte 4096: 00000001, expected 0a0b0c0d",
            9,
            BEGIN + 7 * SECOND,
            "local",
        ),
        ErrorGroup("copy", "read", "refused", "503 Service Unavailable", 3, BEGIN + 9 * SECOND, "local"),
        ErrorGroup("list", "list", "failed", "3 entries, expected 100", 1, BEGIN + 61 * SECOND, "local"),
    )
    return RunResults(
        "runs/2026-11-21T10-15-03Z-copy-stress",
        run_info(),
        cases,
        criteria(),
        monitors(),
        errors,
        ExitCode.CASE_FAILED,
        "failed",
        "The system: 8 clients waited for answers 97 % of the time; pileup used 12 % of a core.",
        ("The generator's clock stepped by 3 ms at 31 s.",),
        bottlenecks=(BottleneckRow("copy", LimitedBy.SYSTEM, "8 clients waited for answers", "Look at `find`"),),
        joined=(
            Joined("copy", "read", "se", "log", 100, 98, 99, 9 * SECOND, 3 * SECOND, 3e7, None, 6e7, None),
            Joined("copy", "write", "se", "log", 7, 0, 0, 0, 0, None, None, None, None),
            Joined("copy", "stat", "se", "stream", 50, 50, 50, SECOND, None, None, None, None, None, SECOND),
        ),
        one_sided=(
            OneSided("client", "log", "copy.read", "failed", True, 2, BEGIN + SECOND, ("a", "<b>")),
            OneSided("server", "log", "OPTIONS", "passed", False, 1, BEGIN, ()),
        ),
        clocks=(ServerClock("log", -960 * SECOND, 75_000),),
        served=(
            Served(
                "db",
                "SELECT * FROM job WHERE id IN (?, …)",
                42,
                180 * SECOND,
                9 * SECOND,
                1_500_000,
                2_100_000,
                50_000,
                9000,
            ),
            Served("", "UPDATE job SET state = ? WHERE name = '<b>'", 1, 12_000_000, 12_000_000, 0, 3, 3, 11),
        ),
    )


def outputs() -> dict[str, str]:
    """Output of the cases of `rich`."""
    return {
        "output/tools/stdout.txt": "=== iteration 0, client 0\nLinux 6.1.0\n",
        "output/tools/stderr.txt": "",
        "output/list/stderr.txt": "=== iteration 0, client 0\nlisting /data: 3 entries\n",
        "output/copy/stdout.txt": "".join(f"=== iteration {i}\nfile {i:06d} copied\n" for i in range(20_000)),
    }


@cache
def simple() -> RunResults:
    """One case under load and one monitor: the least that has charts."""
    full = rich()
    return replace(
        full,
        cases=full.cases[2:3],
        criteria=full.criteria[:1],
        errors=(),
        served=(),
        verdict="passed",
        exit_code=ExitCode.PASSED,
        notes=(),
    )


def empty() -> RunResults:
    """A run that was ended before anything happened."""
    return RunResults(
        "runs/x",
        Manifest(title="Nothing"),
        (),
        (),
        (),
        (),
        ExitCode.UNKNOWN,
        RunVerdict.UNKNOWN,
        "Nothing was measured.",
    )


def hostile() -> RunResults:
    """Every text tries to break out of its place."""
    full = rich()
    cases = tuple(
        replace(case, name=f"{case.name}{HOSTILE}", reason=HOSTILE, load=HOSTILE, notes=(HOSTILE,), target=HOSTILE)
        for case in full.cases
    )
    errors = tuple(replace(error, message=HOSTILE, case=HOSTILE, operation=HOSTILE) for error in full.errors)
    said = tuple(
        replace(criterion, says=HOSTILE, check=HOSTILE, reason=HOSTILE, id=HOSTILE) for criterion in full.criteria
    )
    drawn = tuple(
        replace(each, metric=HOSTILE, labels=f"x={HOSTILE}", host=HOSTILE, unit=HOSTILE) for each in full.series[:2]
    )
    info = replace(
        full.run,
        title=HOSTILE,
        about=HOSTILE,
        labels={HOSTILE: HOSTILE},
        suite=SuiteSource(text=HOSTILE, source=HOSTILE),
    )
    rows = (BottleneckRow(HOSTILE, LimitedBy.PILEUP, HOSTILE, f"{HOSTILE} `{HOSTILE}`"),)
    changed = replace(full, run=info, cases=cases, errors=errors, criteria=said, series=drawn)
    return replace(changed, bottlenecks=rows, limit=HOSTILE, notes=(HOSTILE,))


def huge(cases: int = 300, seconds: int = 7200) -> RunResults:
    """Many cases, a long one among them, and a flood of errors and samples."""
    full = rich()
    long = sustained(1, "long", 0, seconds, rate=5.0)
    many = tuple(replace(full.cases[3], id=number, name=f"stat [buffer={number}]") for number in range(2, cases + 1))
    errors = tuple(
        replace(full.errors[0], message=f"error {number} " + "x" * 500, count=cases - number) for number in range(1000)
    )
    return replace(full, cases=(long, *many), errors=errors, series=monitors(seconds))


def happened() -> tuple[Event, ...]:
    """One of each kind of event that charts show, and one that is only listed."""
    at = lambda second: int(BEGIN + second * SECOND)  # noqa: E731
    return (
        Event("fault", "se is restarted (TERM)", at(9), at(11), "se"),
        Event("setting", "se.throttle is 16", at(23), at(23), "se"),
        Event("fault", "se is paused", at(31), at(33.5), "se"),
        Event("place", "place 1 (wn043) is lost", at(37), at(37), "1"),
        Event("cooldown", "last(node.load1) < 1 holds after 1.6 s", at(44.2), at(45.8), "0"),
        Event("monitor", f"monitor node was too slow for its interval 2 times {HOSTILE}", at(50), at(50)),
    )


def eventful() -> RunResults:
    """The rich run with everything that can happen to one."""
    full = rich()
    return replace(full, cases=(*full.cases, waiting(20, "submit", 3)), events=happened())


def crowded() -> RunResults:
    """The eventful run with so many events close to each other that their numbers have no room."""
    full = eventful()
    kinds = ("fault", "setting", "place", "cooldown")
    at = [9 + 0.4 * number + (20 if number > 15 else 0) for number in range(30)]
    many = tuple(
        Event(kinds[number % 4], f"event {number}", int(BEGIN + t * SECOND), int(BEGIN + t * SECOND), "se")
        for number, t in enumerate(at)
    )
    return replace(full, events=many)


def spread(places: tuple[str, ...] = ("wn041", "wn042", "wn043")) -> RunResults:
    """The rich run with its copies from several places, the last of which is slow."""
    full = rich()
    case = next(each for each in full.cases if each.test == "copy")
    first, *others = case.operations
    values = tuple(_at_place(name, 2.5e6 if name == places[-1] else 1e6) for name in places)
    broken = replace(first, breakdowns=(Breakdown("place", values, 0, (1e6, 4e6, 1.6e7, 6.4e7)),))
    changed = replace(case, operations=(broken, *others))
    return replace(full, cases=tuple(changed if each is case else each for each in full.cases))


def _at_place(name: str, unit: float) -> LabelFigure:
    draw = random.Random(name)
    times = [int(BEGIN + (3 + i) * SECOND) for i in range(17)]
    line = LabelLine(
        tuple(times),
        tuple(time + SECOND for time in times),
        tuple(1e8 / unit / 2 * draw.gauss(1, 0.1) for _ in times),
        tuple(unit * 15 * draw.gauss(1, 0.1) for _ in times),
    )
    known = Figure(15 * unit, "time", None, 900)
    none = Figure(None, "rate")
    return LabelFigure(name, Counts(passed=900), none, none, known, 1e6, {0.5: known}, None, (100, 500, 300), line)


CAPACITY = 185.0
"""What the storage of `climbed` sustains, per second."""


def climbed(rates: tuple[int, ...] = (60, 120, 180, 240, 300), seconds: int = 6) -> RunResults:
    """A load that rises level by level to more than the system sustains: a queue of one server of known capacity."""
    draw = random.Random(5)
    lines = []
    for number, rate in enumerate(rates):
        busy = min(0.97, rate / CAPACITY)
        one = timeline(
            number * seconds,
            seconds,
            min(rate, CAPACITY),
            clients=100,
            median=5e6 / (1 - busy),
            size=65536,
            seed=number,
        )
        flat = tuple(min(rate, CAPACITY) * draw.gauss(1, 0.01) for _ in range(seconds))
        times = tuple(5e6 / (1 - busy) * draw.gauss(1, 0.03) for _ in range(seconds))
        given = {"started": (float(rate),) * seconds, "missed": (0.0,) * seconds, "phase": (3,) * seconds}
        lines.append(replace(one, passed=flat, p50=times, p99=tuple(3 * each for each in times), **given))
    columns = {
        each.name: sum((getattr(line, each.name) for line in lines), ())
        for each in fields(Timeline)
        if each.name != "responses"
    }
    length = len(rates) * seconds
    case = sustained(1, "climb", 0, length, load="open, 60 to 300 /s", rate=150.0)
    levels = tuple(
        (number * seconds * SECOND, (number + 1) * seconds * SECOND, float(rate)) for number, rate in enumerate(rates)
    )
    entry = CaseEntry(1, "climb", "climb", load_kind="open", spans=((0, length * SECOND),), levels=levels)
    full = rich()
    return replace(
        full, cases=(replace(case, timeline=Timeline(**columns)),), run=replace(full.run, cases=(entry,)), criteria=()
    )


def _pressed(case: CaseResult) -> CaseEntry:
    """The entry of a case of a scan: as many clients as its server has threads."""
    clients = int(case.point.get("se.threads", 4))
    return CaseEntry(case.id, case.name, "copy", load_kind="closed", clients=clients, point=case.point)


@cache
def scanned(threads: tuple[str, ...] = ("4", "16", "64"), repeats: int = 4) -> RunResults:
    """A scan over a setting of the target and an option of the test, all repeats of all points."""
    axes = {"se.threads": threads, "copy.buffer": ("64 KiB", "1 MiB")}
    values = [{"se.threads": t, "copy.buffer": b} for t in threads for b in axes["copy.buffer"]]
    draw = random.Random(11)
    cases: list[CaseResult] = []
    for repeat in range(1, repeats + 1):
        for point in values if repeat % 2 else reversed(values):
            label = ",".join(f"{axis}={value}" for axis, value in point.items())
            rate = min(300.0, 30.0 * int(point["se.threads"])) * (0.8 if "MiB" in point["copy.buffer"] else 1)
            rate *= 1 + 0.02 * draw.gauss(0, 1) + 0.03 * repeat
            case = sustained(
                len(cases) + 1, f"copy[{label}]#{repeat}", 6.0 * len(cases), 6, rate=rate, median=8e9 / rate
            )
            cases.append(replace(case, test="copy", point=point, repeat=repeat, visit=len(cases)))
    ended = int(BEGIN + (6.0 * len(cases) + 1) * SECOND)
    info = run_info("Threads and buffers", scan=axes, points=values, repeat=repeats, ended=ended)
    found = points(info)
    verdicts = tuple(
        PointVerdict(point.name, Verdict.NOT_MET if point.number == 1 else Verdict.MET, figure(90e6, "time", 400), "")
        for point in found
    )
    info = replace(info, cases=tuple(_pressed(case) for case in cases))
    judged = replace(criteria()[1], points=verdicts, reason="it does not hold at 1 of 6 points: se.threads=4: 90 ms")
    full = replace(rich(), cases=tuple(cases), run=info, criteria=(judged,), errors=(), series=(), notes=())
    return replace(full, points=found, comparisons=comparisons(found, cases))


@cache
def placed() -> RunResults:
    """Three places against three targets, one of them slow in a cell, and a cell with rare slow answers."""
    away = {"geneva": (5, 120, 40), "taipei": (120, 5, 120), "chicago": (40, 120, 5)}
    targets = ("cern", "asgc", "fnal")
    draw, cases, cells, times, values = random.Random(5), [], [], [], []
    for place, distances in away.items():
        for target, distance in zip(targets, distances, strict=True):
            hidden = 90 * ((place, target) == ("taipei", "fnal"))
            values.append({"place": place, "options.target": target})
            drawn = [(distance + hidden + 10 * math.exp(draw.gauss(0, 0.3))) * 1e6 for _ in range(300)]
            if (place, target) == ("chicago", "cern"):
                drawn[::60] = [5e9] * 5
            found = Histogram()
            for each in drawn:
                found.record(int(each))
            times.append(CellTimes(DueDurations(found), (sorted(drawn)[145], sorted(drawn)[155])))
            cells.append(matrix.cell(len(cells), place, target, distance * 10**6, times[-1]))
    for number, point in enumerate(values * 2):
        label = ",".join(f"{axis}={value}" for axis, value in point.items())
        median = cells[number % 9].median.value or 0.0
        name, shape = f"read[{label}]#{number // 9 + 1}", {"rate": 4e9 / median, "median": median, "clients": 4}
        case = sustained(number + 1, name, 6.0 * number, 6, **shape)
        cases.append(replace(case, test="read", target=point["options.target"], point=point, repeat=number // 9 + 1))
    axes = {"place": tuple(away), "options.target": targets}
    ended = int(BEGIN + (6.0 * len(cases) + 1) * SECOND)
    info = run_info("Places against storages", scan=axes, points=values, repeat=2, ended=ended)
    info = replace(info, cases=tuple(_pressed(case) for case in cases))
    made = matrix.matrix("read", cells, times)
    assert made is not None
    found_points = points(info)
    full = replace(rich(), cases=tuple(cases), run=info, criteria=(), errors=(), series=(), notes=(), events=())
    return replace(full, points=found_points, comparisons=comparisons(found_points, cases), matrices=(made,))
