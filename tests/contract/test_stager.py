"""Real stagers, XRootD with frm_xfrd: what pileup measures is what the log of their library says."""

import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pileup.plugin import NotThere
from pileup.plugin.tape import FileState, Stage, StagedFile
from tests.servers.stager import Fate, Stagers, stagers

MS = 10**6
TYPICAL = 50 * MS
"""Most by which a time may differ from the library's, half of the requests: a process is started, or woken up."""
MOST = 1000 * MS
"""The same, each request: frm_xfrd looks into its queue once a second (frm.xfr.qcheck) where a message was lost."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stagers]:
    """Two nodes; cartridge 10 cannot be read."""
    with stagers(tmp_path_factory.mktemp("stagers"), unreadable=[10]) as running:
        yield running


def path_of(fate: Fate, nodes: Stagers) -> str:
    """Return the name of the file in the library, by the start of its copy command; of several by its end, too."""
    handed, log = fate.at(Stage.HANDED), nodes.transfers()
    started = [each.path for each in log if each.event == "started" and each.time == handed]
    over = {each.path: each.time for each in log if each.event != "started"}
    return min(started, key=lambda path: abs(over.get(path, 0) - fate.ended))


@pytest.mark.timed
def test_the_waits_are_those_of_the_librarys_log(nodes: Stagers) -> None:
    asked = [(number % 2, f"/{'ab'[number // 6]}/{number}") for number in range(12)]
    fates = nodes.recall_all(*asked)
    assert [fate.problem for fate in fates] == [""] * 12
    stages = [Stage.ASKED, Stage.HANDED, Stage.BEGUN, Stage.DELIVERED]
    assert all([step.stage for step in fate.steps] == stages for fate in fates)
    assert {fate.steps[-1].drive for fate in fates} == {"d0"}
    truth = {(each.path, each.event): each.time for each in nodes.events()}
    meanings = {Stage.HANDED: "queued", Stage.BEGUN: "begun", Stage.DELIVERED: "delivered"}
    for stage, event in meanings.items():
        off = [abs(fate.at(stage) - truth[path_of(fate, nodes), event]) for fate in fates]
        assert statistics.median(off) < TYPICAL and max(off) < MOST, (stage, sorted(off))


def test_no_stager_hands_over_more_than_its_limit(nodes: Stagers) -> None:
    begun = time.time_ns()
    nodes.recall_all(*((0, f"/c/{number}") for number in range(7)))
    most = 0
    under_way: set[str] = set()
    for each in nodes.transfers():
        if each.time >= begun:
            (under_way.add if each.event == "started" else under_way.discard)(each.path)
            most = max(most, len(under_way))
    assert most == 2


def test_files_of_a_folder_lie_on_one_cartridge(nodes: Stagers) -> None:
    fates = nodes.recall_all(
        *((0, f"/d/{number}") for number in range(3)), *((1, f"/e{number}/x") for number in range(5))
    )
    found = defaultdict(set)
    where = {each.path: each.cartridge for each in nodes.events() if each.event == "delivered"}
    for number, fate in enumerate(fates):
        if not fate.problem:
            found[number < 3].add(where[path_of(fate, nodes)])
    assert len(found[True]) == 1 and len(found[False]) > 1


def test_a_bad_cartridge_fails_its_files_and_no_others(nodes: Stagers) -> None:
    fates = nodes.recall_all(*((0, f"/f{number}/x") for number in range(9)))
    bad = [fate for fate in fates if fate.problem]
    where = {each.path: each.cartridge for each in nodes.events() if each.event == "assigned"}
    assert [fate for fate in fates if where[path_of(fate, nodes)] == "10"] == bad
    assert 0 < len(bad) < 9 and {fate.problem for fate in bad} == {"its cartridge cannot be read"}


def killed(nodes: Stagers, process: str, node: int) -> list[Fate]:
    """Ask a node for files; one of its processes is killed while it copies two of them, and started again."""
    library, begin = nodes.process("library"), time.time_ns()
    nodes.supervisor.pause(library)  # so that it copies for as long as this takes

    def strike() -> None:
        until(lambda: sum(each.time > begin for each in nodes.transfers()) == 2)
        nodes.supervisor.kill(nodes.process(process))
        nodes.supervisor.go_on(library)
        nodes.supervisor.restart(nodes.process(process))

    with ThreadPoolExecutor(1) as pool:
        struck = pool.submit(strike)
        fates = nodes.recall_all(*((node, f"/{process}/{number}") for number in range(4)))
        struck.result()
    return fates


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that must come."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_stager_goes_on_where_it_was(nodes: Stagers) -> None:
    """Its queue survives it; what it was copying is copied again, and nobody has to do anything."""
    fates = killed(nodes, "frm-0", 0)
    assert [fate.problem for fate in fates] == [""] * 4
    stages = [[step.stage for step in fate.steps] for fate in fates]
    assert sum(Stage.REQUEUED in each for each in stages) == 2, "those that it was copying"
    assert all(each.count(Stage.HANDED) == 1 for each in stages)


def test_a_file_is_asked_for_again_when_its_node_has_ended(nodes: Stagers) -> None:
    fates = killed(nodes, "xrootd-1", 1)
    assert [fate.problem for fate in fates] == [""] * 4


def polled(nodes: Stagers, request: str, done: Callable[[dict[str, FileState]], bool]) -> dict[str, StagedFile]:
    """Poll a request until its files are so."""
    found: dict[str, StagedFile] = {}

    def is_done() -> bool:
        found.update({file.path: file for file in nodes.target.staged(request)})
        return done({path: file.state for path, file in found.items()})

    until(is_done)
    return found


def over(states: dict[str, FileState]) -> bool:
    return all(state.final for state in states.values())


def test_requests_made_one_after_another_bring_all_their_files_over_root(nodes: Stagers) -> None:
    """None is lost. They come one after another: of several at once the plug-in of XRootD 5.5 may crash."""
    wanted = [[f"/g{number}/{file}" for file in range(2)] for number in range(40)]
    requests = [nodes.target.stage(paths, node=1) for paths in wanted]
    assert len(set(requests)) == 40
    for request, paths in zip(requests, wanted, strict=True):
        found = polled(nodes, request, over)
        assert list(found) == paths
        bad = [file for file in found.values() if file.state is FileState.FAILED]
        assert len(bad) in (0, 2), "files of a folder lie on one cartridge"
        assert {file.error for file in bad} <= {"the stager could not copy it"}


def test_files_of_a_request_are_opened_and_leave_the_disk_over_root(nodes: Stagers) -> None:
    paths = [f"/h/{number}" for number in range(20)]
    request = nodes.target.stage(paths)
    assert {file.state for file in nodes.target.staged(request)} <= {FileState.SUBMITTED, FileState.COMPLETED}
    found = polled(nodes, request, over)
    assert set(found) == set(paths) and {file.state for file in found.values()} == {FileState.COMPLETED}
    nodes.target.open_files(request, paths)
    nodes.target.release(request, paths[:5])
    left = polled(nodes, request, lambda states: sum(each.final for each in states.values()) == 15)
    assert [path for path, file in left.items() if not file.state.final] == paths[:5]
    nodes.target.open_files(request, paths[:1])  # XRootD has it brought again
    assert polled(nodes, request, lambda _: True)[paths[0]].state is FileState.COMPLETED


def test_a_cancelled_request_is_not_known_any_more_over_root(nodes: Stagers) -> None:
    library = nodes.process("library")
    nodes.supervisor.pause(library)
    try:
        request = nodes.target.stage([f"/k/{number}" for number in range(3)])
        assert {file.state for file in nodes.target.staged(request)} == {FileState.SUBMITTED}
        nodes.target.cancel(request, [])
        until(lambda: nodes.target.staged(request) == [])
        nodes.target.forget(request)
        with pytest.raises(NotThere, match="no request"):
            nodes.target.staged(request)
    finally:
        nodes.supervisor.go_on(library)


def test_folders_may_have_spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my files").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "my files"))
    with stagers(tmp_path / "my files", nodes=1) as running:
        (fate,) = running.recall_all((0, "/a/0"))
        assert fate.problem == ""
        assert fate.steps[-1].stage is Stage.DELIVERED
        assert [each.event for each in running.transfers()] == ["started", "done"]
        assert running.events()
