"""Places against targets: what is hidden is found, and nothing else is called out more often than is promised."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pileup._core._native import Histogram
from pileup.model.bottleneck import LimitedBy
from pileup.model.manifest import CaseEntry
from pileup.model.matrix import Matrix, MatrixModel
from pileup.record import RunFolder
from pileup.stats import results, to_json
from pileup.stats.cases import CaseData
from pileup.stats.compare import matrix
from pileup.stats.compare.matrix import CellTimes
from pileup.stats.frames.distribution import DueDurations, pooled
from pileup.stats.generator import bottleneck
from tests.unit.stats import scans

MS = 10**6
PLACES, TARGETS = ("geneva", "taipei", "chicago"), ("cern", "asgc", "fnal")
DISTANCES = ((5, 120, 40), (120, 5, 120), (40, 120, 5))
"""ms, place by place."""
SLOW, RARE = ("taipei", "fnal"), ("chicago", "cern")
SEEDS = 60


@dataclass(frozen=True)
class World:
    """What is true: round trips, ms; what a target takes, ms; what single cells take besides."""

    service: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(TARGETS, 10.0))
    round_trips: float = 1.0
    slow: Mapping[tuple[str, str], float] = field(default_factory=dict)
    rare: tuple[str, str] | None = None
    known: bool = True
    """Whether the record knows the distances; else each place has one of its own."""
    n: int = 120
    repeats: int = 4
    late: int = 0
    """Answers of each cell and repeat that the machine delays by 40 to 90 ms."""

    def distance(self, place: str, target: str) -> float:
        row = DISTANCES[PLACES.index(place)]
        return row[TARGETS.index(target)] if self.known else row[0]

    def median(self, place: str, target: str) -> float:
        away = self.round_trips * self.distance(place, target)
        return self.service[target] + away + self.slow.get((place, target), 0.0)

    def measured(self, seed: int) -> Matrix:
        """Return a matrix of what was measured: log-normal service, a drift of each cell, one in a hundred 5 s late."""
        draw = np.random.default_rng(seed)
        cells, times = [], []
        for place in PLACES:
            for target in TARGETS:
                found = self._cell(draw, place, target)
                known = round(self.distance(place, target) * MS) if self.known else None
                cells.append(matrix.cell(len(cells), place, target, known, found))
                times.append(found)
        made = matrix.matrix("read", cells, times)
        assert made is not None
        return made

    def _cell(self, draw: np.random.Generator, place: str, target: str) -> CellTimes:
        parts = []
        for _ in range(self.repeats):
            drift = draw.normal(0, 0.3)
            drawn = self.service[target] * np.exp(draw.normal(0, 0.3, self.n))
            drawn += self.median(place, target) - self.service[target] + drift
            if (place, target) == self.rare:
                drawn[draw.random(self.n) < 0.01] += 5000
                drawn[0] += 5000
            drawn[1 : 1 + self.late] += draw.uniform(40, 90, self.late)
            times = Histogram()
            for each in (drawn * MS).astype(int).tolist():
                times.record(max(1, each))
            parts.append(DueDurations(times))
        medians = tuple(value for part in parts if (value := part.value(0.5)) is not None)
        return CellTimes(pooled(parts), medians)


def flagged(found: Matrix) -> dict[tuple[str, str], tuple[str, ...]]:
    return {(each.place, each.target): each.flags for each in found.cells if each.flags}


@pytest.mark.long
@pytest.mark.parametrize("known", [True, False], ids=["distances known", "distances not known"])
def test_a_slow_cell_and_rare_slow_answers_are_found_and_nothing_else(known: bool) -> None:
    world = World(slow={SLOW: 80.0}, rare=RARE, known=known)
    others = 0
    for seed in range(SEEDS):
        found = world.measured(seed)
        told = flagged(found)
        assert told.pop(SLOW) == ("slow",), seed
        assert told.pop(RARE) == ("rare slow answers", "deviation above mean"), seed
        others += bool(told)
        for each in found.cells:
            assert each.median.value == pytest.approx(world.median(each.place, each.target) * MS, rel=0.05)
            assert each.median.interval
    assert others <= SEEDS // 20, "no other cell in 19 of 20 seeds"


def test_a_machine_that_stalls_for_a_moment_does_not_hide_rare_slow_answers() -> None:
    """Such moments are outliers of near cells, and many more than the answers that take 5 s."""
    for seed in range(10):
        found = World(rare=RARE, late=3).measured(seed)
        assert sum(each.outliers for each in found.cells) > 40
        assert flagged(found) == {RARE: ("rare slow answers", "deviation above mean")}, seed


@pytest.mark.long
@pytest.mark.parametrize("known", [True, False], ids=["distances known", "distances not known"])
def test_where_nothing_is_hidden_nothing_is_found(known: bool) -> None:
    world = World(known=known)
    found = [world.measured(seed) for seed in range(1000, 1000 + SEEDS)]
    assert {each.model for each in found} == {MatrixModel.DISTANCE if known else MatrixModel.PLACES}
    assert sum(bool(flagged(each)) for each in found) <= SEEDS // 20
    assert sum(any(server.slow for server in each.servers) for each in found) <= SEEDS // 20


def test_two_slow_cells_do_not_hide_each_other() -> None:
    found = World(slow={SLOW: 200.0, ("geneva", "asgc"): 200.0}).measured(3)
    assert flagged(found) == {SLOW: ("slow",), ("geneva", "asgc"): ("slow",)}


def test_a_cell_that_is_little_slower_is_not_worth_a_word() -> None:
    """Slower by 15 %, and surely so: the rule looks for a fifth."""
    assert flagged(World(slow={SLOW: 19.0}, n=400).measured(1)) == {}


@pytest.mark.parametrize("known", [True, False], ids=["distances known", "distances not known"])
def test_a_target_twice_as_slow_as_its_peers_is_found(known: bool) -> None:
    service = {"cern": 200.0, "asgc": 100.0, "fnal": 100.0}
    for seed in range(10):
        found = World(service=service, slow={SLOW: 300.0}, known=known).measured(seed)
        assert [each.target for each in found.servers if each.slow] == ["cern"]
        assert flagged(found) == {SLOW: ("slow",)}


@pytest.mark.long
def test_the_line_of_each_target_has_the_truth_in_its_intervals() -> None:
    inside = total = 0
    for seed in range(SEEDS):
        world = World(round_trips=2.0, service={"cern": 20.0, "asgc": 10.0, "fnal": 10.0}, slow={SLOW: 80.0})
        for each in world.measured(seed).servers:
            assert each.k.value == pytest.approx(2.0, abs=0.05)
            assert each.k.interval
            assert each.c.interval
            inside += each.k.interval.low <= 2.0 <= each.k.interval.high
            inside += each.c.interval.low <= world.service[each.target] * MS <= each.c.interval.high
            total += 2
    assert inside / total > 0.92, "95 % intervals"


def test_too_few_cells_say_nothing_of_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.unit.stats.compare.test_matrix.PLACES", PLACES[:2])
    monkeypatch.setattr("tests.unit.stats.compare.test_matrix.TARGETS", TARGETS[:2])
    found = World(known=False, slow={("taipei", "asgc"): 500.0}).measured(1)
    assert (found.model is MatrixModel.PLACES, flagged(found)) == (True, {})


AXES = {"place": ["geneva", "taipei", "chicago"], "places": ["[1]", "[2]", "[3]"], "options.target": list(TARGETS)}
POINTS = [
    {"place": place, "places": f"[{number}]", "options.target": target}
    for number, place in enumerate(PLACES, 1)
    for target in TARGETS
]


def recorded(base: Path, disturbed: Collection[tuple[str, str, int]] = ()) -> RunFolder:
    """A run of known times: 10 ms, the round trip, and 80 ms more in one cell; 500 ms where something disturbs it."""

    def duration(point: Mapping[str, str], repeat: int) -> int:
        place, target = point["place"], point["options.target"]
        away = DISTANCES[PLACES.index(place)][TARGETS.index(target)]
        hit = (place, target, repeat) in disturbed
        return (10 + away + 80 * ((place, target) == SLOW) + 500 * hit) * MS + repeat * 20_000

    folder = scans.scan(base, duration, 2, AXES, grid=POINTS, together=[["place", "places"]])
    run = folder.manifest()

    def placed(case: CaseEntry) -> CaseEntry:
        target = case.point["options.target"]
        away = DISTANCES[PLACES.index(case.point["place"])][TARGETS.index(target)] * MS
        return replace(case, target=target, latency={target: away})

    folder.save(replace(run, cases=tuple(map(placed, run.cases))))
    return folder


def test_a_run_has_the_matrix_of_its_scan(tmp_path: Path) -> None:
    found = results(recorded(tmp_path))
    (made,) = found.matrices
    assert (made.places, made.targets, made.model) == (PLACES, TARGETS, MatrixModel.DISTANCE)
    assert flagged(made) == {SLOW: ("slow",)}
    cell = next(each for each in made.cells if (each.place, each.target) == SLOW)
    assert cell.expected == pytest.approx(130 * MS, rel=0.01)
    assert cell.median.value == pytest.approx(210 * MS, rel=0.01)
    assert cell.passed == 2 * scans.N
    assert [each.k.value for each in made.servers] == [pytest.approx(1, abs=0.01)] * 3
    assert to_json(found)["matrices"][0]["cells"][5]["slow"] is True


def test_repeats_in_which_pileup_was_the_bottleneck_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeat of a cell, and all of another: what is left of the first is as it was; of the other nothing is said."""
    hit = [("geneva", "cern", 1), ("chicago", "fnal", 1), ("chicago", "fnal", 2)]
    before = bottleneck.limits

    def limits(data: list[CaseData], *rest: Any) -> list[bottleneck.Bottleneck]:
        entries = {each.entry.name: each.entry for each in data}

        def disturbed(name: str) -> bool:
            entry = entries[name]
            return (entry.point["place"], entry.point["options.target"], entry.repeat) in hit

        found = before(data, *rest)
        return [
            replace(one, row=replace(one.row, by=LimitedBy.PILEUP)) if disturbed(one.case) else one for one in found
        ]

    folder = recorded(tmp_path, hit)
    (without,) = results(folder).matrices
    monkeypatch.setattr(bottleneck, "limits", limits)
    (made,) = results(folder).matrices
    cells = {(each.place, each.target): each for each in made.cells}
    assert flagged(made) == {SLOW: ("slow",), ("chicago", "fnal"): ("pileup was the bottleneck",)}
    assert flagged(without) != flagged(made)
    assert cells["geneva", "cern"].median.value == pytest.approx(15 * MS, rel=0.01)
    assert (cells["geneva", "cern"].passed, cells["geneva", "cern"].left_out) == (scans.N, 1)
    assert (cells["chicago", "fnal"].passed, cells["chicago", "fnal"].left_out) == (2 * scans.N, 2)
    assert cells["chicago", "fnal"].expected == pytest.approx(15 * MS, rel=0.01)


def test_other_scans_have_none(tmp_path: Path) -> None:
    assert results(scans.scan(tmp_path, lambda point, repeat: 10 * MS)).matrices == ()
