"""A suite in virtual time: the tests that users write, on machines, with the loads and the order of any run."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from pileup.cli.verify import findings
from pileup.model.ending import StoppedBy
from pileup.model.errors import SuiteError
from pileup.model.results import RunResults
from pileup.record import RunFolder
from pileup.run.simulation.suite import STEPS, SuiteSimulation, frame_length
from pileup.run.stop import Stop, StopMode
from pileup.suite import load as load_suite

SECOND = 10**9
BEGAN = 1_000_000_000 * SECOND
HEAD = """pileup: 1
title: Simulated
targets: {here: {kind: "./waiting.py:Counter", launch: {takes: 10}}}
reports: [{use: json}]
"""


def plan_of(base: Path, text: str, head: str = HEAD) -> Any:
    shutil.copy(Path(__file__).with_name("waiting.py"), base)
    (base / "suite.yaml").write_text(head + text)
    return load_suite(base / "suite.yaml", servers=False)


def simulated(base: Path, text: str, head: str = HEAD, stop: Stop | None = None) -> tuple[RunResults, RunFolder]:
    simulation = SuiteSimulation(plan_of(base, text, head), base / "runs", stop, BEGAN)
    results = simulation.run()
    assert results.run.simulated
    return results, RunFolder.open(simulation.folder.path)


def rows(folder: RunFolder, what: str) -> list[tuple[Any, ...]]:
    with folder.operations().connect() as connection:
        found: list[tuple[Any, ...]] = connection.execute(f"SELECT {what} ORDER BY start, id").fetchall()
    return found


def times(folder: RunFolder, case: int = 1) -> list[tuple[float, ...]]:
    """Return client, and seconds at which iterations were due, began and ended."""
    found = rows(folder, f'client, intended, start, "end" FROM operations WHERE parent = 0 AND case_id = {case}')
    return [(client, *((time - BEGAN) / SECOND for time in moments)) for client, *moments in found]


def test_clients_of_a_closed_load_go_on_when_they_have_thought(tmp_path: Path) -> None:
    load = "{clients: 2, for: 50 s, think: 3 s}"
    results, folder = simulated(tmp_path, f"tests: [{{name: t, use: ./waiting.py:Ask, load: {load}}}]")
    assert times(folder) == [
        (0, 0, 0, 10),
        (1, 0, 0, 20),
        (0, 13, 13, 30),
        (1, 23, 23, 40),
        (0, 33, 33, 50),
        (1, 43, 43, 60),
    ]
    assert str(results.verdict) == "passed"
    told = "key, bytes, calls, labels FROM caused WHERE operation = 'ask'"
    assert rows(folder, told)[:2] == [("k0", 100, 1, "client=c0"), ("k1", 100, 1, "client=c1")]
    assert sum(moved for (moved,) in rows(folder, "bytes FROM operations WHERE parent = 0")) == 600
    assert [(row.sample.value, row.iteration) for row in folder.samples()] == [(n, n) for n in range(6)]
    assert "iteration 5" in next(iter(folder.outputs().values()))
    assert list(findings(folder)) == []
    assert {each.operation for each in results.cases[0].operations} == {"iteration", "ask", "check.fine"}


def test_what_finds_no_client_begins_late_or_is_missed(tmp_path: Path) -> None:
    load = "{rate: 0.2 /s, clients: 1, for: 30 s}"
    results, folder = simulated(tmp_path, f"tests: [{{name: t, use: ./waiting.py:Ask, load: {load}}}]")
    assert times(folder) == [(0, 0, 0, 10), (0, 5, 10, 20), (0, 10, 20, 30)]
    assert results.cases[0].iterations.counts.missed == 3


def test_a_number_of_iterations_and_a_ramp(tmp_path: Path) -> None:
    tests = """tests:
  - {name: four, use: ./waiting.py:Ask, load: {times: 4, clients: 2}}
  - {name: ramp, use: ./waiting.py:Ask, load: {clients: 2, ramp: 30 s, for: 5 s}}
"""
    _, folder = simulated(tmp_path, tests)
    assert [end for *_, end in times(folder)] == [10, 20, 30, 40]
    assert [due - 40 for _, due, _, _ in times(folder, 2)] == [0, 10, 15, 20, 30]


def test_every_outcome_is_that_of_a_real_run(tmp_path: Path) -> None:
    tests = """tests:
  - {name: refused, use: ./waiting.py:Ask, options: {wrong: refused}}
  - {name: late, use: ./waiting.py:Ask, timeout: 5 s}
  - {name: setup, use: ./waiting.py:Ask, options: {wrong: setup}}
  - {name: thread, use: ./waiting.py:Ask, options: {wrong: thread}}
  - {name: stuck, use: ./waiting.py:Ask, options: {wrong: stuck}}
  - {name: after, use: ./waiting.py:Ask, after: [refused]}
  - {name: fine, use: ./waiting.py:Ask}
"""
    results, folder = simulated(tmp_path, tests)
    told = {case.name: (str(case.outcome), case.reason) for case in results.cases}
    assert [outcome for outcome, _ in told.values()] == [
        "failed", "failed", "failed", "failed", "error", "not run", "passed",
    ]  # fmt: skip
    for name, words in {
        "refused": "not now",
        "late": "no answer in time",
        "setup": "set-up failed: no client today",
        "thread": "a thread, which takes real time",
        "stuck": "the simulation is stuck",
        "after": "needs refused",
    }.items():
        assert words in told[name][1]
    assert times(folder, 2)[0][1:] == (0, 0, 5)
    assert list(findings(folder)) == []


def test_a_role_goes_on_beside_a_load_and_ends_with_it(tmp_path: Path) -> None:
    tests = """tests:
  - {name: leave, use: ./waiting.py:Leave, load: {rate: 1 /s, for: 20 s}}
  - {name: end, use: ./waiting.py:End, with: [leave], load: {every: 6 s, delay: 500 ms}}
"""
    results, folder = simulated(tmp_path, tests)
    assert [start for _, _, start, _ in times(folder, 2)] == [0.5, 6.5, 12.5, 18.5]
    jobs = rows(folder, "key, (\"end\" - start) / 1e9 FROM operations WHERE operation = 'job' AND outcome = 'passed'")
    assert jobs[:8] == [
        ("j0", 0.5), ("j1", 5.5), ("j2", 4.5), ("j3", 3.5), ("j4", 2.5), ("j5", 1.5), ("j6", 0.5), ("j7", 5.5),
    ]  # fmt: skip

    assert {str(case.outcome) for case in results.cases} == {"passed"}
    assert list(findings(folder)) == []


def test_points_of_a_scan_have_machines_of_their_settings(tmp_path: Path) -> None:
    text = "scan: {here.takes: [1, 7, -1]}\nrepeat: 2\ntests: [{name: t, use: ./waiting.py:Ask, load: {times: 2}}]"
    results, folder = simulated(tmp_path, text)
    found = {case.id: str(case.outcome) for case in results.cases}
    assert sorted(found.values()) == ["passed"] * 4 + ["unavailable"] * 2
    assert "takes -1000000000; expected 0 or more" in next(each.reason for each in results.cases if each.reason)
    took = {case: {end - start for _, _, start, end in times(folder, case)} for case in found}
    by_point = {str(case.point["here.takes"]): took[case.id] for case in results.cases if took[case.id]}
    assert by_point == {"1": {1}, "7": {7}}


def test_a_machine_begins_afresh_at_each_visit(tmp_path: Path) -> None:
    """In each repeat the second client gives up on a counter that is busy for 8 s more: the next repeat has another."""
    test = "{name: t, use: ./waiting.py:Ask, timeout: 12 s, load: {clients: 2, times: 2}, fail_when: never}"
    _, folder = simulated(tmp_path, f"repeat: 3\ntests: [{test}]")
    ends = [[end for *_, end in times(folder, case)] for case in (1, 2, 3)]
    assert ends == [[10, 12], [22, 24], [34, 36]]


def test_independent_tests_may_go_on_at_a_time(tmp_path: Path) -> None:
    text = """parallel: 2
tests:
  - {name: one, use: ./waiting.py:Ask, options: {pause: 5 s}}
  - {name: two, use: ./waiting.py:Ask, load: {delay: 1 s}}
"""
    _, folder = simulated(tmp_path, text)
    assert (times(folder, 1), times(folder, 2)) == ([(0, 0, 0, 21)], [(0, 1, 1, 11)])


def test_everything_real_is_refused_at_once_and_by_name(tmp_path: Path) -> None:
    head = """pileup: 1
title: Real
targets:
  se: {kind: webdav, url: "http://se.site.org/data"}
  disk: {kind: posix}
  here: {kind: "./waiting.py:Counter", launch: {}}
"""
    text = """tests:
  - {name: read, use: storage.read, target: se, options: {files: 1, size: 1 kB}}
  - {name: plain, use: ./waiting.py:Plain, target: disk}
  - {name: away, use: ./waiting.py:Alone, isolate: process}
  - name: search
    use: ./waiting.py:Ask
    target: here
    load: {find: {raise: rate, between: [1 /s, 9 /s], while: p95(search.response) < 1 s}, for: 9 s}
monitors: [{use: node}]
places: processes:2
faults: [{at: 1 s, do: command, run: "true", during: [search]}]
"""
    with pytest.raises(SuiteError) as caught:
        SuiteSimulation(plan_of(tmp_path, text, head), tmp_path / "runs")
    told = "\n".join(problem.text for problem in caught.value.problems)
    for words in (
        "target se is a real system (http://se.site.org/data); expected",
        "target disk is of kind posix, which has no machine",
        "test read (storage.read) has steps for the engine",
        "test plain (./waiting.py:Plain) is not async",
        "test away runs in a process of its own",
        "the load of search has `find`",
        "monitor node measures a real system",
        "fault 1 (command) acts on a real server",
        "the load comes from process 1, process 2",
    ):
        assert words in told, told
    assert all(problem.expected and problem.hint for problem in caught.value.problems)
    assert not (tmp_path / "runs").exists()


def test_equal_seeds_give_equal_rows(tmp_path: Path) -> None:
    text = "tests: [{name: t, use: ./waiting.py:Ask, load: {clients: 3, for: 60 s, think: {exponential: 5 s}}}]"
    found = []
    for seed in (1, 1, 2):
        base = tmp_path / str(len(found))
        base.mkdir()
        _, folder = simulated(base, f"seed: {seed}\n{text}")
        found.append(rows(folder, "* FROM operations"))
    assert found[0] == found[1] != found[2]


class Asked(Stop):
    """Is asked to stop when its haste was looked at so many times."""

    def __init__(self, looks: int, haste: StopMode) -> None:
        self._left, self._wanted = looks, haste
        super().__init__()

    @property
    def haste(self) -> StopMode:
        self._left -= 1
        if self._left == 0:
            self.by, self.reason = StoppedBy.USER, "user: Ctrl-C"
        return self._wanted if self._left <= 0 else StopMode.NONE

    @haste.setter
    def haste(self, value: StopMode) -> None:
        """It is as above."""


@pytest.mark.parametrize(("haste", "unfinished"), [(StopMode.IN_ORDER, 0), (StopMode.AT_ONCE, 2)])
def test_a_wish_to_stop_ends_it_in_order_or_at_once(tmp_path: Path, haste: StopMode, unfinished: int) -> None:
    text = """tests:
  - {name: t, use: ./waiting.py:Ask, load: {clients: 2, for: 1 h}}
  - {name: later, use: ./waiting.py:Ask}
"""
    results, _ = simulated(tmp_path, text, stop=Asked(200, haste))
    assert (results.run.stopped, int(results.exit_code)) == ("user: Ctrl-C", 6)
    assert [str(case.outcome) for case in results.cases][1] == "not run"
    counts = next(each.counts for each in results.cases[0].operations if each.iteration)
    assert counts.unfinished == unfinished
    assert counts.passed > 2


def test_frames_are_longer_where_a_simulation_may_take_many_hours(tmp_path: Path) -> None:
    text = "tests: [{{name: t, use: ./waiting.py:Ask, timeout: {}}}]"
    assert frame_length(plan_of(tmp_path, text.format("1 h"))) == SECOND
    assert frame_length(plan_of(tmp_path, text.format("7 d"))) == 60 * SECOND
    assert sorted(STEPS) == STEPS
