"""A queue of known theory, hours of it in virtual time, written into a run folder: what pileup says is the theory.

M/M/1, first come first served: the time in the system is exponential with rate mu - lambda (Kleinrock, Queueing Systems
I, 3.2), and rho / (1 - rho) are in it on the mean.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pileup.cli.verify import findings
from pileup.model.figures import Figure
from pileup.model.record import Sample
from pileup.model.results import OperationResult, RunResults
from pileup.record import RunFolder
from pileup.run.simulation import SimulatedIteration, SimulatedLoad, SimulatedRun, VirtualClock
from pileup.stats import results
from pileup.suite import load as load_suite
from tests.support import pileup

pytestmark = pytest.mark.long

SECOND = 10**9
BEGAN = 1_000_000_000 * SECOND
MU = 10.0
RATES = (3.0, 6.0)
SIMULATED = "Simulated: its time is virtual, and no system was measured."
SUITE = """
pileup: 1
title: Queue
seed: 1
variables: {rate: 3 /s, length: 2 h}
targets: {server: {kind: noop}}
tests:
  - {name: q, use: noop, load: {rate: $rate, arrivals: poisson, warm_up: 10 min, for: $length}}
monitors:
  - {name: queue, use: "./depth.py:Depth", every: 10 s}
criteria:
  - {id: C1, says: Nine of ten are answered soon, check: p90(q) < 0.5 s}
  - {id: C2, says: Few wait, check: mean(queue.depth) < 1}
"""
SCAN = """
scan: {rate: [3 /s, 6 /s]}
"""
DEPTH = """
from pileup.plugin import Monitor

class Depth(Monitor):
    \"\"\"How many are in the queue.\"\"\"

    def sample(self):
        raise AssertionError("a simulation samples nothing real")
"""


class Queue:
    """One worker, exponential service."""

    def __init__(self, clock: VirtualClock, mu: float, seed: int) -> None:
        self._clock, self._mean = clock, SECOND / mu
        self._random = np.random.default_rng(seed)
        self._inside: deque[SimulatedIteration] = deque()

    def __len__(self) -> int:
        return len(self._inside)

    def arrive(self, load: SimulatedLoad, due: int) -> None:
        self._inside.append(load.begin(due))
        if len(self._inside) == 1:
            self._serve()

    def _serve(self) -> None:
        self._clock.at(self._clock.now() + round(self._random.exponential(self._mean)), self._leave)

    def _leave(self) -> None:
        self._inside.popleft().end(calls=1, bytes=1000)
        if self._inside:
            self._serve()


def simulate(
    base: Path, text: str = SUITE, mu: float = MU, values: Mapping[str, str] | None = None, beat: int = SECOND
) -> Path:
    """Write the run of a suite in virtual time; return its folder."""
    (base / "queue.yaml").write_text(text)
    (base / "depth.py").write_text(DEPTH)
    plan = load_suite(base / "queue.yaml", values or {})
    run = SimulatedRun(plan, base / "runs", BEGAN, beat)
    for case in plan.cases:
        with run.case(case, "q") as load:
            queue = Queue(run.clock, mu, plan.suite.seed)

            def look(queue: Queue = queue, load: SimulatedLoad = load) -> None:
                run.sample("queue", Sample("depth", len(queue)))
                if not load.over:
                    run.clock.at(run.clock.now() + 10 * SECOND, partial(look, queue, load))

            look()
            for due in load.arrivals():
                run.clock.at(due, partial(queue.arrive, load, due))
            load.attend()
        run.clock.go_on(10 * SECOND)
    run.finish()
    return run.folder.path


@pytest.fixture(scope="module")
def hours(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """More than four hours, and how long it took to write them, s."""
    begin = time.monotonic()
    return simulate(tmp_path_factory.mktemp("hours"), SUITE + SCAN), time.monotonic() - begin


@pytest.fixture(scope="module")
def found(hours: tuple[Path, float]) -> RunResults:
    return results(RunFolder.open(hours[0]))


def test_hours_are_written_in_seconds(hours: tuple[Path, float]) -> None:
    run = RunFolder.open(hours[0]).manifest()
    assert ((run.ended or 0) - run.started) / SECOND > 4 * 3600
    assert hours[1] < 60


def test_the_figures_are_those_of_theory(found: RunResults) -> None:
    """Ten intervals at 95 %, each wrong in one run of twenty by its own promise: more than two of them is a mistake."""
    wrong = []
    for case, rate in zip(found.cases, RATES, strict=True):
        (q,) = case.operations
        assert (case.point, case.outcome) == ({"rate": f"{rate:g} /s"}, "passed")
        assert (q.operation, q.counts.ended, q.seconds) == ("q", q.counts.passed, 2 * 3600)
        wrong += [told for figure, truth in theory(q, rate) if (told := misses(figure, truth))]
    assert len(wrong) <= 2, wrong


def theory(q: OperationResult, rate: float) -> Iterator[tuple[Figure, float]]:
    """Yield each figure with its truth."""
    yield q.rate, rate
    yield q.throughput, 1000 * rate
    for share in (0.5, 0.9, 0.99):
        yield q.quantiles[share], -math.log(1 - share) / (MU - rate) * SECOND


def misses(figure: Figure, truth: float) -> str:
    """Return what is wrong with an interval, empty when the truth is in it. No figure is far off."""
    assert figure.value == pytest.approx(truth, rel=0.1)
    assert figure.interval is not None
    held = figure.interval.low <= truth <= figure.interval.high
    return "" if held else f"{figure.value} [{figure.interval.low}, {figure.interval.high}] is {truth}"


def test_a_monitor_and_its_criterion_are_those_of_theory(hours: tuple[Path, float], found: RunResults) -> None:
    depths = [(row.time, row.sample.value) for row in RunFolder.open(hours[0]).samples()]
    for case in found.cases:
        rho = float(case.point["rate"].split()[0]) / MU
        begin, end = (case.started or 0) + 600 * SECOND, (case.started or 0) + 7800 * SECOND
        seen = [value for at, value in depths if begin <= at < end]
        assert np.mean(seen) == pytest.approx(rho / (1 - rho), rel=0.1)
    verdicts = {each.id: each for each in found.criteria}
    assert not verdicts["C1"].verdict.met
    assert not verdicts["C2"].verdict.met


def test_the_record_is_whole(hours: tuple[Path, float]) -> None:
    done = pileup("verify", str(hours[0]), cwd=hours[0])
    assert (done.returncode, done.stdout.strip()) == (0, "the record is whole"), done.stdout + done.stderr


def test_every_report_says_that_it_is_simulated(hours: tuple[Path, float]) -> None:
    shown = pileup("show", str(hours[0]), cwd=hours[0])
    text = " ".join(shown.stdout.split())
    assert text.index(SIMULATED) < text.index("C1: "), shown.stdout + shown.stderr
    page = (hours[0] / "report.html").read_text()
    assert page.index(SIMULATED) < page.index("</header>")
    assert 'name="simulated" value="true"' in (hours[0] / "junit.xml").read_text()
    plain = json.loads((hours[0] / "results.json").read_text())
    assert plain["run"]["simulated"] is True
    assert plain["notes"][0] == SIMULATED
    assert SIMULATED in (hours[0] / "results.xml").read_text()
    again = pileup("report", str(hours[0]), "--to", "json", "--out", str(hours[0] / "again.json"), cwd=hours[0])
    assert again.returncode == 0, again.stderr


def test_all_times_are_virtual(hours: tuple[Path, float]) -> None:
    folder = RunFolder.open(hours[0])
    run = folder.manifest()
    events = [event.time for event in folder.events()]
    assert run.started == BEGAN
    assert events == sorted(events)
    assert BEGAN <= events[0] < events[-1] <= (run.ended or 0)
    ends = folder.operations().arrays("end")["end"]
    assert BEGAN < ends.min() < ends.max() < (run.ended or 0)


def test_the_same_seed_is_the_same_run_to_the_nanosecond(tmp_path: Path) -> None:
    one, other = (
        RunFolder.open(simulate(tmp_path, values={"length": "10 min"})).operations().arrays() for _ in range(2)
    )
    assert len(one["id"]) > 3000
    assert all((one[name] == other[name]).all() for name in one)


def test_longer_frames_tell_the_same(tmp_path: Path) -> None:
    paths = [simulate(tmp_path, values={"length": "20 min"}, beat=beat) for beat in (SECOND, 45 * SECOND)]
    short, long = (RunFolder.open(path) for path in paths)
    assert len(list(long.frames())) < len(list(short.frames())) / 40
    first, second = (results(folder).cases[0].operations[0] for folder in (short, long))
    assert first.quantiles == second.quantiles
    assert (first.rate, first.counts, first.seconds) == (second.rate, second.counts, second.seconds)
    assert list(findings(long)) == []


def test_runs_are_compared(tmp_path: Path) -> None:
    slow, same, fast = (
        simulate(tmp_path, mu=mu, values={"length": "20 min", "seed": seed})
        for mu, seed in ((MU, "1"), (MU, "2"), (1.3 * MU, "3"))
    )
    verdicts = {}
    for name, other in (("same", same), ("fast", fast)):
        done = pileup("compare", str(slow), str(other), "--format", "json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (against,) = json.loads(done.stdout)["against"]
        verdicts[name] = {each["metric"]: each["verdict"] for each in against["contrasts"]}
        assert f"{slow.name}: simulated in virtual time, no system was measured." in against["warnings"]
    assert verdicts["fast"]["p90"] == "better"
    assert "better" not in verdicts["same"].values()
    assert "worse" not in verdicts["same"].values()
