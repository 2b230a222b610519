"""The practice tape library in virtual time, and projects on it: what pileup records is what the library says."""

import asyncio
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pileup.builtin.practice.tape import PracticeTapeTarget
from pileup.builtin.tape.machine import SimulatedTape
from pileup.builtin.tape.project import TapeProject
from pileup.builtin.tape.settings import MachineSettings
from pileup.model.errors import Failed
from pileup.plugin.tape import Stage, Step
from pileup.record import RunFolder
from pileup.run.simulation import VirtualClock
from pileup.run.simulation.loop import VirtualLoop
from pileup.run.simulation.machines import MachineTime
from pileup.run.simulation.suite import SuiteSimulation
from pileup.suite import load as load_suite

S = 10**9
BEGAN = 1_000_000_000 * S
QUICK = {"mount": "10 s", "dismount": "5 s", "seek": "2 s", "speed": "1 MB/s", "drives": 1, "cartridges": 1}


def steps(settings: dict[str, Any], *asked: tuple[int, str, int]) -> list[list[tuple[str, float]]]:
    """Return the stages and seconds of requests (node, path, bytes) made at once; a failure is its message."""
    clock = VirtualClock(BEGAN)
    loop = VirtualLoop(clock)

    async def one(tape: SimulatedTape, node: int, path: str, size: int) -> list[tuple[str, float]]:
        found = []
        try:
            async for step in tape.recall(node, path, size):
                assert step.time == clock.now()
                found.append((str(step.stage), (step.time - BEGAN) / S))
        except Failed as failure:
            found.append((str(failure), (clock.now() - BEGAN) / S))
        return found

    async def main() -> list[list[tuple[str, float]]]:
        tape = PracticeTapeTarget().simulated({**QUICK, **settings}, MachineTime(clock, 7))
        return await asyncio.gather(*(one(tape, *each) for each in asked))

    try:
        return loop.run_until_complete(main())
    finally:
        loop.close()


def test_a_request_waits_at_its_stager_then_in_the_library() -> None:
    first, second = steps({"max_transfers": 1}, (0, "/a/1", 4_000_000), (0, "/a/2", 1_000_000))
    assert first == [("asked", 0), ("handed over", 0), ("begun", 12), ("delivered", 16)]
    assert second == [("asked", 0), ("handed over", 16), ("begun", 18), ("delivered", 19)]


def test_without_a_limit_the_library_has_all_at_once() -> None:
    _, second = steps({}, (0, "/a/1", 4_000_000), (0, "/a/2", 1_000_000))
    assert second[:2] == [("asked", 0), ("handed over", 0)]


def test_files_of_a_folder_lie_on_one_cartridge() -> None:
    many = [(0, f"/folder/{number}", 1_000_000) for number in range(5)]
    found = steps({"cartridges": 1000}, *many)
    assert [each[-1][1] for each in found] == [13, 16, 19, 22, 25]


def test_what_does_not_come_fails_with_its_reason() -> None:
    assert steps({"unreadable": [0]}, (0, "/a/1", 1)) == [
        [("asked", 0), ("handed over", 0), ("its cartridge cannot be read", 12)]
    ]
    ((*_, (told, at)),) = steps({"lost": "100 %"}, (0, "/a/1", 1))
    assert (told, at) == ("the library does not know the request any more", 0)


def test_a_drive_that_goes_down_lets_its_request_wait_again() -> None:
    (found,) = steps({"down": [{"drive": 0, "at": "13 s", "for": "7 s"}]}, (0, "/a/1", 4_000_000))
    assert [stage for stage, _ in found] == ["asked", "handed over", "begun", "requeued", "begun", "delivered"]
    assert found[3:] == [("requeued", 13), ("begun", 32), ("delivered", 36)]


def test_who_goes_away_takes_the_request_back() -> None:
    clock = VirtualClock(BEGAN)
    loop = VirtualLoop(clock)

    async def main() -> tuple[int, int, int]:
        tape = PracticeTapeTarget().simulated(QUICK, MachineTime(clock, 7))
        left = tape.recall(0, "/a/1", 1_000_000)
        await anext(left)
        await left.aclose()
        return tape._library.queues

    assert loop.run_until_complete(main()) == (0, 0, 0)
    loop.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"drives": 0},
        {"speeed": 1},
        {"order": "lifo"},
        {"unreadable": [1]},
        {"down": [{"drive": 1, "at": "0 s", "for": "1 s"}]},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PracticeTapeTarget.launcher({**QUICK, **wrong}, Path())


def test_a_machine_has_no_faults_of_the_server() -> None:
    with pytest.raises(ValueError, match="faults of the server; expected none"):
        PracticeTapeTarget().simulated({"faults": [{"kind": "refuse"}]}, MachineTime(VirtualClock(BEGAN), 7))


def suite(base: Path, launch: dict[str, Any], options: str, load: str) -> SuiteSimulation:
    text = {**QUICK, "cartridges": 50, "arms": 4, **launch}
    (base / "suite.yaml").write_text(
        f"""pileup: 1
title: Tape
targets: {{tape: {{kind: practice-tape, launch: {json.dumps(text)}}}}}
tests: [{{name: project, use: tape.project, options: {options}, load: {load}, timeout: 1 d}}]
reports: [{{use: json}}]
"""
    )
    return SuiteSimulation(load_suite(base / "suite.yaml", servers=False), base / "runs", began=BEGAN)


def sums(folder: RunFolder) -> dict[str, tuple[int, int]]:
    """Return operation -> how many there are, and the sum of their times, ns."""
    told = 'SELECT operation, count(*), sum("end" - start)::BIGINT FROM operations WHERE parent > 0 GROUP BY operation'
    with folder.operations().connect() as connection:
        return {name: (count, total) for name, count, total in connection.execute(told).fetchall()}


def test_the_waits_are_those_of_the_library_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, str, int | None, int | None]] = []
    asked: list[int] = []
    made = SimulatedTape.__init__

    def init(self: SimulatedTape, *given: Any) -> None:
        made(self, *given)
        library = self._library

        class Watched:
            def __getattr__(self, name: str) -> Any:
                return getattr(library, name)

            def submit(self, now: int, *rest: Any) -> int:
                asked.append(now)
                return library.submit(now, *rest)

            def take_events(self) -> list[tuple[int, str, int | None, int | None]]:
                found = library.take_events()
                seen.extend(found)
                return found

        self._library = Watched()

    monkeypatch.setattr(SimulatedTape, "__init__", init)
    launch = {"drives": 3, "nodes": 4, "max_transfers": 2, "seek": {"exponential": "5 s"}}
    options = "{files: 6, size: 3 MB, work: {exponential: 10 s}, ahead: 3, together: 2}"
    simulation = suite(tmp_path, launch, options, "{clients: 10, times: 20}")
    assert int(simulation.run().exit_code) == 0
    at: dict[str, dict[int, int]] = defaultdict(dict)
    for time, word, request, _ in seen:
        if request is not None:
            at[word][request] = time
    assert len(at["delivered"]) == len(asked) == 120
    truth = {
        "stager_queue": sum(at["queued"][n] - asked[n] for n in range(120)),
        "queue_wait": sum(at["begun"][n] - at["queued"][n] for n in range(120)),
        "transfer": sum(at["delivered"][n] - at["begun"][n] for n in range(120)),
        "file": sum(at["delivered"][n] - asked[n] for n in range(120)),
    }
    found = sums(RunFolder.open(simulation.folder.path))
    assert {name: found[name] for name in truth} == {name: (120, total) for name, total in truth.items()}
    assert found["tape_queue"] == found["queue_wait"]
    assert all(total > 0 for total in truth.values())


def test_a_project_idles_until_a_file_is_there_and_works_on_it(tmp_path: Path) -> None:
    simulation = suite(tmp_path, {"cartridges": 1}, "{files: 3, size: 1 MB, work: 4 s}", "{times: 1}")
    simulation.run()
    found = sums(RunFolder.open(simulation.folder.path))
    # asked for one ahead: 13 s for the first; the next is asked for when it is opened, and there 3 s later
    assert found["idle"] == (3, 13 * S)
    assert found["work"] == (3, 12 * S)
    assert found["file"] == (3, (13 + 3 + 3) * S)


def test_files_are_opened_in_order_where_that_is_wanted() -> None:
    here: asyncio.Queue[tuple[int, str]] = asyncio.Queue()

    async def main(how: str) -> list[int]:
        test, early = TapeProject(open=how), {}
        for number in (2, 0, 1):
            here.put_nowait((number, ""))
        return [(await test._next(turn, here, early))[0] for turn in range(3)]

    assert asyncio.run(main("arrival")) == [2, 0, 1]
    assert asyncio.run(main("order")) == [0, 1, 2]


def test_a_file_that_does_not_come_fails_its_project_when_the_others_are_done(tmp_path: Path) -> None:
    launch = {"cartridges": 3, "unreadable": [1]}
    simulation = suite(tmp_path, launch, "{files: 9, work: 1 s, size: 1 MB}", "{times: 2}")
    results = simulation.run()
    assert int(results.exit_code) == 1
    assert "its cartridge cannot be read" in results.cases[0].reason
    with RunFolder.open(simulation.folder.path).operations().connect() as connection:
        told = [error for (error,) in connection.execute("SELECT error FROM operations WHERE parent = 0").fetchall()]
    assert all("of 9 did not come: its cartridge cannot be read" in error for error in told if error)
    assert any(told)
    file = next(each for each in results.cases[0].operations if each.operation == "file")
    assert file.counts.failed > 0
    assert file.counts.failed + file.counts.passed == 18


def test_a_file_that_several_ask_a_central_cache_for_is_fetched_once() -> None:
    settings = {"cache": "central", "cache_speed": "1 MB/s", "nodes": 3}
    first, second, third = steps(settings, *[(node, "/a/1", 4_000_000) for node in range(3)])
    # 12 s until it is read, 4 s from tape, and three copies of 4 s one after another
    assert first == [("asked", 0), ("handed over", 0), ("begun", 12), ("cached", 16), ("delivered", 20)]
    assert second == [("asked", 0), ("shared", 0), ("found", 16), ("delivered", 24)]
    assert third == [("asked", 0), ("shared", 0), ("found", 16), ("delivered", 28)]


def test_caches_of_nodes_fetch_a_file_as_often_as_nodes_ask() -> None:
    found = steps({"cache": "node", "nodes": 2}, *[(node, "/a/1", 4_000_000) for node in (0, 1, 1)])
    assert [each[-1] for each in found] == [("delivered", 16), ("delivered", 22), ("delivered", 22)]
    assert [[stage for stage, _ in each][1] for each in found] == ["handed over", "handed over", "shared"]


def test_what_a_warm_cache_has_waits_for_nobody() -> None:
    (found,) = steps({"cache": "node", "warm": "100 %"}, (0, "/a/1", 4_000_000))
    assert found == [("asked", 0), ("found", 0), ("delivered", 0)]


def test_who_waits_for_a_fetch_that_fails_asks_again() -> None:
    first, second = steps({"cache": "central", "unreadable": [0]}, (0, "/a/1", 1), (0, "/a/1", 1))
    assert first[1:] == [("handed over", 0), ("its cartridge cannot be read", 12)]
    assert second[1:] == [("shared", 0), ("handed over", 12), ("its cartridge cannot be read", 14)]


def test_who_waits_for_a_fetch_goes_away_alone() -> None:
    clock = VirtualClock(BEGAN)
    loop = VirtualLoop(clock)

    async def main() -> list[str]:
        tape = SimulatedTape(MachineSettings.model_validate({**QUICK, "cache": "central"}), MachineTime(clock, 7))

        async def one() -> list[str]:
            return [str(step.stage) async for step in tape.recall(0, "/a/1", 1_000_000)]

        tasks = [asyncio.create_task(one()) for _ in range(3)]
        await asyncio.sleep(1)
        tasks[1].cancel()
        await asyncio.sleep(1)
        tasks[0].cancel()  # the one that fetches: the third one goes on in its place
        assert await tasks[2] == ["asked", "shared", "handed over", "begun", "cached", "delivered"]
        return [str(tape._library.queues)]

    assert loop.run_until_complete(main()) == ["(0, 0, 0)"]
    loop.close()


@pytest.mark.parametrize(
    ("cache", "warm", "ways"),
    [
        ("central", "0 %", {"shared": 9, "miss": 3}),
        ("node", "0 %", {"miss": 12}),
        ("central", "100 %", {"hit": 12}),
        ("node", "100 %", {"hit": 12}),
    ],
)
def test_hits_and_misses_are_operations(tmp_path: Path, cache: str, warm: str, ways: dict[str, int]) -> None:
    launch = {"cache": cache, "warm": warm, "nodes": 4}
    options = "{files: 3, size: 1 MB, work: 1 s, ahead: 3, sets: 1}"
    simulation = suite(tmp_path, launch, options, "{clients: 4, times: 4}")
    results = simulation.run()
    found = sums(RunFolder.open(simulation.folder.path))
    assert {name: found[name][0] for name in ("hit", "shared", "miss") if name in found} == ways
    misses = ways.get("miss", 0)
    assert [found.get(name, (0, 0))[0] for name in ("stager_queue", "queue_wait", "tape_queue")] == [misses] * 3
    assert sum(found[name][1] for name in ways) == found["file"][1]
    iterations = results.cases[0].iterations
    assert iterations is not None
    assert iterations.throughput.value == pytest.approx((iterations.rate.value or 0) * 3_000_000)
    if (cache, warm) == ("node", "100 %"):
        assert found["idle"] == (12, 0)


def test_steps_are_plain() -> None:
    assert Step(Stage.ASKED, 5) == (Stage.ASKED, 5, "", "")
