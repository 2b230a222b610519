"""What a simulation does becomes rows and frames by the rules of the engine, and a record that is whole."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pileup.cli.show.command import broken_off
from pileup.cli.verify import findings
from pileup.model.errors import NotARun, UsageError
from pileup.model.record import Frame, Outcome, Phase
from pileup.record import RunFolder
from pileup.record.merge import merge
from pileup.run.recovery.resume import take_up
from pileup.run.simulation import SimulatedRun
from pileup.stats import results
from pileup.suite import load as load_suite
from tests.manifests import plain

SECOND = 10**9
BEGAN = 1_000_000_000 * SECOND
LOAD = "{clients: 2, warm_up: 2 s, for: 4 s}"


Make = Callable[..., SimulatedRun]


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[Make]:
    """Makes runs; closes them."""
    made = []

    def make(load: str = LOAD) -> SimulatedRun:
        made.append(begun(tmp_path, load))
        return made[-1]

    yield make
    for run in made:
        run.close()


def begun(base: Path, load: str) -> SimulatedRun:
    suite = base / "suite.yaml"
    suite.write_text(
        f"""pileup: 1
title: Simulated
targets: {{here: {{kind: noop}}}}
tests: [{{name: t, use: noop, timeout: 3 s, load: {load}}}]
reports: [{{use: json}}]
"""
    )
    return SimulatedRun(load_suite(suite), base / "runs", BEGAN)


def test_phases_go_by_when_it_was_due_and_rates_by_when_it_ended(simulated: Make) -> None:
    run = simulated()
    with run.case(run.plan.case(1)) as load:
        run.clock.go_on(SECOND)
        iteration = load.begin()
        iteration.operation("read", start=run.clock.now(), end=run.clock.now() + SECOND // 2, bytes=10, key="a")
        run.clock.go_on(2 * SECOND)
        iteration.end(bytes=10)
        late = load.begin()
        run.clock.go_on(4 * SECOND)
        late.end(Outcome.FAILED, error="too late")
    frames = list(run.folder.frames())
    assert [frame.phase for frame in frames] == [*[Phase.WARM_UP] * 2, *[Phase.MEASURE] * 4, *[Phase.COOLDOWN] * 2]
    assert {(frame.measured_from, frame.measured_to) for frame in frames} == {(BEGAN + 2 * SECOND, BEGAN + 6 * SECOND)}
    assert [frame.in_flight for frame in frames] == [0, 1, 1, 1, 1, 1, 1, 0]
    warm_up, measure = ("iteration", Phase.WARM_UP), ("iteration", Phase.MEASURE)
    told = ("passed", "failed", "timed_out", "bytes", "done", "moved")
    assert {key: summed(frames, *key, told) for key in (warm_up, measure)} == {
        warm_up: [1, 0, 0, 10, 0, 0],
        measure: [0, 1, 1, 0, 1, 10],
    }
    assert summed(frames, "read", Phase.WARM_UP, told) == [1, 0, 0, 10, 1, 10]
    found = run.finish()
    assert found.cases[0].outcome == "failed"
    assert "too late" in found.cases[0].reason
    assert list(findings(run.folder)) == []


def summed(frames: list[Frame], operation: str, phase: Phase, counters: tuple[str, ...]) -> list[int]:
    rows = [row for frame in frames for row in frame.rows if (row.operation, row.phase) == (operation, phase)]
    return [sum(getattr(row, name) for row in rows) for name in counters]


def test_what_is_under_way_when_the_case_ends_is_unfinished(simulated: Make) -> None:
    run = simulated()
    with run.case(run.plan.case(1), "t") as load:
        run.clock.go_on(3 * SECOND)
        load.begin()
        load.begin().end()
        load.attend()
        assert not load.over
        assert (run.clock.now() - load.begun) // SECOND == 9, "its time, and a timeout"
    counts = run.finish().cases[0].operations[0].counts
    assert (counts.passed, counts.unfinished) == (1, 1)
    assert list(findings(run.folder)) == []


@pytest.mark.long
def test_operations_outlive_their_iterations(simulated: Make) -> None:
    run = simulated()
    with run.case(run.plan.case(1), "t") as load:
        run.clock.go_on(3 * SECOND)
        iteration = load.begin()
        stages = [iteration.open("stage", f"file-{number}", labels={"drive": f"d{number % 2}"}) for number in range(40)]
        iteration.end()
        load.no_more()
        load.attend()
        assert load.over
    run.clock.go_on(90 * SECOND)
    for stage in stages[:39]:
        stage.end(bytes=1000)
    run.clock.go_on(5 * SECOND)
    with pytest.raises(ValueError, match="file-0 has ended; expected one that is open"):
        stages[0].end()
    found = run.finish()
    stage = next(each for each in found.cases[0].operations if each.operation == "stage")
    assert stage.detached
    assert (stage.counts.passed, stage.counts.unfinished, stage.seconds) == (39, 1, 90.0)
    assert stage.quantiles[0.5].value == pytest.approx(90 * SECOND, rel=0.002)
    (line,) = found.cases[0].detached
    assert (max(line.open), sum(line.ended)) == (40, 40)
    assert list(findings(run.folder)) == []


def test_the_first_free_client_has_an_iteration_until_the_load_is_over(simulated: Make) -> None:
    run = simulated()
    with run.case(run.plan.case(1), "t") as load:
        assert not load.over
        begun = [load.begin() for _ in range(3)]
        assert [each.client for each in begun] == [0, 1, 2]
        begun[1].end()
        assert load.begin().client == 1, "the first free client has it"
        with pytest.raises(ValueError, match=r"has ended; expected one that is under way"):
            begun[1].end()
        run.clock.go_on(7 * SECOND)
        with pytest.raises(ValueError, match=r"an iteration is due at \d+; expected a time before the end"):
            load.begin()


def test_arrivals_are_those_that_the_engine_would_press(simulated: Make) -> None:
    run = simulated("{rate: 10 /s, for: 2 s}")
    with run.case(run.plan.case(1), "t") as load:
        assert [due - BEGAN for due in load.arrivals()] == [number * SECOND // 10 for number in range(20)]


def test_only_a_simulated_run_says_so(simulated: Make) -> None:
    run = simulated()
    assert plain(run.folder)["simulated"] is True
    run.folder.save(RunFolder.open(run.folder.path).manifest())
    assert RunFolder.open(run.folder.path).manifest().simulated


def test_a_simulated_run_is_not_taken_up_again(simulated: Make) -> None:
    run = simulated()
    with pytest.raises(UsageError, match="is simulated: its time is virtual; expected a run that was measured"):
        take_up(run.folder.path, trusted=True)


@pytest.mark.long
def test_it_is_merged_with_none_that_was_measured(simulated: Make, tmp_path: Path) -> None:
    folders = []
    for real in (False, True):
        run = simulated()
        with run.case(run.plan.case(1), "t") as load:
            run.clock.go_on(3 * SECOND)
            load.begin().end()
        run.finish()
        if real:
            run.folder.save(replace(run.folder.manifest(), simulated=False))
        folders.append(RunFolder.open(run.folder.path))
    with pytest.raises(NotARun, match=r"was measured and .* is simulated"):
        merge(folders, tmp_path / "merged")
    again = simulated()
    with again.case(again.plan.case(1), "t") as load:
        again.clock.go_on(3 * SECOND)
        load.begin().end()
    again.finish()
    assert merge([folders[0], again.folder], tmp_path / "merged")[1].simulated


def test_figures_of_a_run_that_goes_on_are_there(simulated: Make) -> None:
    run = simulated()
    with run.case(run.plan.case(1), "t") as load:
        run.clock.go_on(3 * SECOND)
        load.begin().end()
        run.clock.go_on(SECOND)
        folder = RunFolder.open(run.folder.path)
        assert results(folder).notes[0].startswith("Simulated")
        assert "resume" not in broken_off(folder), "it would press real load"
        assert "simulated again" in broken_off(folder)
