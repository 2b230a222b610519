"""Pieces of made-up results: cases, their time lines and distributions, samples of monitors."""

import math
import random
from dataclasses import replace
from functools import cache
from typing import Any

from pileup.model.figures import Counts, Distribution, Figure, Interval, Note
from pileup.model.record import CaseOutcome
from pileup.model.response_map import PER_DECADE, ResponseMap
from pileup.model.results import (
    CaseResult,
    Detached,
    OperationResult,
    Series,
    Timeline,
)

BEGIN = 1_795_256_103_000_000_000
SECOND = 10**9
HOSTILE = "</script><script>alert('x')</script> & \"quoted\" <b>"
SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999)


@cache
def distribution(n: int, median: float, sigma: float, seed: int = 1) -> Distribution:
    """A log-normal distribution as statistics give it; `median` in ns."""
    draw = random.Random(seed)
    values = sorted(draw.lognormvariate(math.log(median), sigma) for _ in range(n))
    at = lambda share: values[min(n - 1, int(share * n))]  # noqa: E731
    quantiles = {
        share: Figure(at(share), "time", Interval(at(share) * 0.96, at(share) * 1.05), n)
        if n * (1 - share) >= 5
        else Figure(None, "time", n=n, note=Note.TOO_FEW)
        for share in SHARES
    }
    bins = 40
    low, high = math.log(values[0] * 0.99), math.log(values[-1] * 1.01)
    edges = tuple(math.exp(low + (high - low) * i / bins) for i in range(bins + 1))
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((math.log(value) - low) / (high - low) * bins))] += 1
    step = max(1, n // 200)
    ecdf = (*tuple((values[i], (i + 1) / n) for i in range(0, n, step)), (values[-1], 1.0))
    box = (at(0.01), at(0.25), at(0.5), at(0.75), at(0.99))
    return Distribution(n, sum(values) / n, int(values[0]), int(values[-1]), quantiles, edges, tuple(counts), ecdf, box)


@cache
def timeline(
    start: float, seconds: int, rate: float, *, clients: int, median: float, size: int, seed: int = 1
) -> Timeline:
    """A case second by second: two seconds of ramp, one of warm-up, then the measurement; `start` in s of the run."""
    draw = random.Random(seed)
    n = range(seconds)
    passed = [max(0.0, rate * min(1, (i + 1) / 3) * draw.gauss(1, 0.06)) for i in n]
    lost = [p * 0.01 if i % 7 == 3 else 0.0 for i, p in zip(n, passed, strict=True)]
    wave = [median * draw.gauss(1, 0.05) * (1 + 0.5 * math.exp(-((i - seconds / 2) ** 2) / 8)) for i in n]
    return Timeline(
        times=tuple(int(BEGIN + (start + i + 1) * SECOND) for i in n),
        seconds=tuple(1.0 for _ in n),
        phase=tuple(1 if i < 1 else 2 if i < 2 else 3 for i in n),
        started=tuple(p + q for p, q in zip(passed, lost, strict=True)),
        passed=tuple(passed),
        not_passed=tuple(lost),
        missed=tuple(3.0 if i % 11 == 5 else 0.0 for i in n),
        bandwidth=tuple(p * size for p in passed),
        in_flight=tuple(int(p * w / SECOND) + 1 for p, w in zip(passed, wave, strict=True)),
        clients=tuple(min(clients, (i + 1) * clients // 2) for i in n),
        p50=tuple(wave),
        p90=tuple(w * 1.6 for w in wave),
        p99=tuple(None if i == 4 else w * 2.6 for i, w in zip(n, wave, strict=True)),
        late=tuple(2e5 * draw.random() for _ in n),
        latest=tuple(2e5 + 2e5 * draw.random() for _ in n),
        responses=response_map(start, passed, wave, lost),
    )


def response_map(start: float, passed: list[float], medians: list[float], lost: list[float]) -> ResponseMap:
    """Response times second by second: log-normal around the median of each, one standard deviation a third of it."""
    bins = [[math.log10(median * math.exp(k / 3)) * PER_DECADE for k in (-2, -1, 0, 1, 2)] for median in medians]
    first, last = int(min(map(min, bins))), int(max(map(max, bins))) + 1
    counts = [[0] * (last - first) for _ in medians]
    for column, places, rate in zip(counts, bins, passed, strict=True):
        for place, share in zip(places, (0.06, 0.24, 0.4, 0.24, 0.06), strict=True):
            column[int(place) - first] += round(rate * share)
    return ResponseMap(
        tuple(int(BEGIN + (start + i) * SECOND) for i in range(len(medians))),
        tuple(int(BEGIN + (start + i + 1) * SECOND) for i in range(len(medians))),
        first,
        tuple(map(tuple, counts)),
        tuple(map(round, lost)),
    )


def figure(value: float, dimension: str, n: int, width: float = 0.02) -> Figure:
    return Figure(value, dimension, Interval(value * (1 - width), value * (1 + width)), n)


def operation(name: str, iteration: bool, counts: Counts, *, median: float, sigma: float, size: int) -> OperationResult:
    seconds = 17.0
    n = counts.passed
    response = distribution(n, median, sigma, 1) if n else None
    service = distribution(n, median * 0.9, sigma, 2) if n else None
    return OperationResult(
        operation=name,
        iteration=iteration,
        counts=counts,
        seconds=seconds,
        rate=figure(n / seconds, "rate", n),
        throughput=figure(n * size / seconds, "bandwidth", n),
        bytes=n * size,
        calls=n,
        response=response,
        service=service,
        quantiles=response.quantiles if response else {},
        service_quantiles=service.quantiles if service else {},
    )


def sustained(number: int, name: str, start: float, seconds: int, **given: Any) -> CaseResult:
    """A case under load."""
    settings = {
        "rate": 150.0,
        "clients": 8,
        "median": 2e7,
        "sigma": 0.4,
        "size": 65536,
        "load": "open, 150 /s for 17 s",
        "outcome": "passed",
    }
    settings |= given
    counts = Counts(
        passed=int(settings["rate"] * (seconds - 3)), failed=12, refused=3, ambiguous=1, unfinished=2, missed=4
    )
    shape = {"median": settings["median"], "sigma": settings["sigma"], "size": settings["size"]}
    operations = [operation("iteration", True, counts, **shape)]
    if given.get("steps"):
        operations += [
            operation(step, False, Counts(passed=counts.passed), **shape | {"median": 6e6}) for step in given["steps"]
        ]
    return CaseResult(
        id=number,
        name=name,
        test=name,
        use="storage.read",
        target="se",
        load=settings["load"],
        outcome=CaseOutcome(settings["outcome"]),
        reason=given.get("reason", ""),
        started=int(BEGIN + start * SECOND),
        ended=int(BEGIN + (start + seconds) * SECOND),
        operations=tuple(operations),
        timeline=timeline(
            start,
            seconds,
            settings["rate"],
            clients=settings["clients"],
            median=settings["median"],
            size=settings["size"],
            seed=number,
        ),
        stdout=f"output/{name}/stdout.txt",
        stderr=f"output/{name}/stderr.txt",
        notes=tuple(given.get("notes", ())),
    )


def once(number: int, name: str, start: float, outcome: str = "passed", reason: str = "") -> CaseResult:
    """A check that was done once, and took 50 ms."""
    counts = Counts(passed=1) if outcome == "passed" else Counts(failed=1)
    small = Timeline(
        (int(BEGIN + (start + 0.05) * SECOND),),
        (0.05,),
        (3,),
        (20.0,),
        (20.0,),
        (0.0,),
        (0.0,),
        (0.0,),
        (0,),
        (1,),
        (5e7,),
        (5e7,),
        (5e7,),
        (None,),
        (2e5,),
    )
    iterations = OperationResult(
        "run", True, counts, 0.05, Figure(None, "rate", note=Note.TOO_FEW), Figure(None, "bandwidth"), 0, 1, None, None
    )
    return CaseResult(
        number,
        name,
        name,
        "command",
        "",
        "once",
        CaseOutcome(outcome),
        reason,
        int(BEGIN + start * SECOND),
        int(BEGIN + (start + 0.05) * SECOND),
        (iterations,),
        small,
        f"output/{name}/stdout.txt",
        f"output/{name}/stderr.txt",
    )


def not_run(number: int, name: str, reason: str, outcome: str = "not run") -> CaseResult:
    return CaseResult(
        number, name, name, "storage.list", "se", "once", CaseOutcome(outcome), reason, None, None, (), None, "", ""
    )


def series(metric: str, labels: str, unit: str, values: list[float], monitor: str = "node") -> Series:
    times = tuple(BEGIN + i * SECOND // 2 for i in range(len(values)))
    return Series(monitor, metric, labels, unit, "wn042", times, tuple(values))


@cache
def monitors(seconds: int = 60) -> tuple[Series, ...]:
    """What node and process monitors give, every half second."""
    draw = random.Random(7)
    n = 2 * seconds
    wave = [30 + 25 * math.sin(i / 15) + draw.random() * 8 for i in range(n)]
    system = [w * 0.4 for w in wave]
    waits = [4 * draw.random() for _ in wave]
    idle = [100 - sum(parts) for parts in zip(wave, system, waits, strict=True)]
    modes = {"user": wave, "system": system, "iowait": waits, "idle": idle, "steal": [0.0] * n}
    found = [series("cpu", f"mode={mode}", "%", values) for mode, values in modes.items()]
    found += [series(f"load{m}", "", "", [1.5 + w / 40 / m for w in wave]) for m in (1, 5, 15)]
    found += [series("processes", "", "", [180 + i % 5 for i in range(n)])]
    found += [
        series("memory", f"kind={kind}", "B", [size + w * 1e7 for w in wave])
        for kind, size in (("used", 3e9), ("available", 5e9))
    ]
    found += [
        series("memory", "kind=total", "B", [8.3e9] * n),
        series("swap", "kind=used", "B", [0.0] * n),
        series("swap", "kind=total", "B", [0.0] * n),
    ]
    found += [series("network", f"direction={way}", "B/s", [w * 3e5 for w in wave]) for way in ("in", "out")]
    found += [series("loopback", f"direction={way}", "B/s", [w * 2e6 for w in wave]) for way in ("in", "out")]
    found += [
        series("disk", f"direction={way}", "B/s", [w * 9e5 * (1 + draw.random()) for w in wave])
        for way in ("read", "write")
    ]
    found += [series("disk_busy", "", "%", [0.0] * n)]
    process = {"of=all": 2.0, "of=mean": 0.5, "of=largest": 1.2}
    found += [series("cpu", label, "%", [w * share for w in wave], "server") for label, share in process.items()]
    found += [
        series("cpu", f"mode={m}", "%", [w * s for w in wave], "server") for m, s in (("user", 1.3), ("system", 0.7))
    ]
    found += [
        series("rss", label, "B", [5e7 * share + w * 1e5 for w in wave], "server") for label, share in process.items()
    ]
    found += [
        series("number", "", "", [4.0] * n, "server"),
        *(series("open_files", label, "", [(40 + w) * of for w in wave], "server") for label, of in process.items()),
    ]
    ramp = [min(1.0, i / 40) for i in range(n)]
    jobs = {
        "queued": [5050 * r + w for r, w in zip(ramp, wave, strict=True)],
        "running": [500.0 * (r > 0) for r in ramp],
    }
    jobs["completed"] = [4.0 * i for i in range(n)]
    found += [series("jobs", f"state={state}", "", values, "slurm") for state, values in jobs.items()]
    return tuple(found)


def waiting(number: int, name: str, start: float) -> CaseResult:
    """A case that submits jobs, which outlive it."""
    case = sustained(number, name, start, 20, size=0, load="open, 50 /s for 17 s")
    n = range(60)
    level = [max(0, min(i * 50, 900) - max(0, i - 20) * 24) for i in n]
    ended = [0 if i < 5 else 15 for i in n]
    line = Detached("job", tuple(int(BEGIN + (start + i) * SECOND) for i in n), tuple(level), tuple(ended))
    counts = Counts(passed=820, lost=12, unfinished=18)
    job = replace(operation("job", False, counts, median=2e10, sigma=0.5, size=0), detached=True, seconds=55.0)
    return replace(case, operations=(*case.operations, job), detached=(line,))
