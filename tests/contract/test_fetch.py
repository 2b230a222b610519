"""`computing.fetch` on a real ARC CE: what its jobs have made comes back, is compared, and is purged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.computing.fetch import ComputingFetch
from pileup.builtin.computing.poll import ComputingPoll
from pileup.builtin.computing.submit import ComputingSubmit
from pileup.plugin import Context
from pileup.plugin.batch import BatchTarget
from pileup.plugin.testing import Iteration, TestLedger, run_once
from tests.servers.arc import QUICK, RunningArc, arc

pytestmark = pytest.mark.long
MADE = "seq 5 >numbers; cp in.bin back.bin; cat numbers >>log"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningArc]:
    with arc(tmp_path_factory.mktemp("ce"), slots=8, **QUICK) as running:
        yield running


@pytest.fixture(scope="module")
def target(server: RunningArc) -> BatchTarget:
    return server.target()


def submitted(target: BatchTarget, context: Context, command: str, outputs: list[str]) -> TestLedger:
    """Submit four jobs and wait until the service has seen them end."""
    ledger = TestLedger()
    given = {"work": "command", "command": ["sh", "-c", command], "inputs": {"in.bin": "in.bin"}, "outputs": outputs}
    assert run_once(ComputingSubmit, target, ledger=ledger, context=context, batch=4, **given).passed
    drained = run_once(ComputingPoll, target, ledger=ledger, keep=True, drain=True)
    assert drained.passed, drained.error
    return ledger


def fetched(target: BatchTarget, ledger: TestLedger, context: Context, **options: Any) -> Iteration:
    return run_once(ComputingFetch, target, ledger=ledger, context=context, **options)


def numbers(iteration: Iteration) -> dict[str, float]:
    return {number.metric: number.value for number in iteration.numbers}


def test_outputs_come_back_once_as_they_are_and_their_jobs_go(target: BatchTarget, tmp_path: Path) -> None:
    (tmp_path / "in.bin").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "five").write_text("1\n2\n3\n4\n5\n")
    context = Context(folder=tmp_path)
    ledger = submitted(target, context, MADE, ["numbers", "back.bin", "log"])
    wanted = {"files": ["log"], "same_as": {"numbers": "five", "back.bin": "in.bin"}}
    first = fetched(target, ledger, context, jobs=3, **wanted)
    second = fetched(target, ledger, context, jobs=3, **wanted)
    third = fetched(target, ledger, context, jobs=3, **wanted)
    assert [each.passed for each in (first, second, third)] == [True] * 3, first.error
    assert [numbers(each) for each in (first, second, third)] == [
        {"purged": 3, "unknown": 0, "fetched": 9},
        {"purged": 1, "unknown": 0, "fetched": 3},
        {"purged": 0, "unknown": 0, "fetched": 0},
    ]
    moved = [(row.key.rpartition("/")[2], row.bytes) for row in first.operations if row.name == "fetch"]
    assert sorted(moved) == sorted([("log", 10), ("numbers", 10), ("back.bin", 25_600)] * 3)
    assert ledger.keys("kept") == []


def test_what_differs_or_is_not_there_fails_and_the_others_come_all_the_same(
    target: BatchTarget, tmp_path: Path
) -> None:
    (tmp_path / "in.bin").write_bytes(b"x" * 1000)
    (tmp_path / "other").write_bytes(b"x" * 999 + b"y")
    context = Context(folder=tmp_path)
    ledger = submitted(target, context, MADE, ["back.bin"])
    wanted = {"same_as": {"back.bin": "other"}, "files": ["nothing", "numbers"], "jobs": 1, "purge": False}
    done = fetched(target, ledger, context, **wanted)
    assert not done.passed
    outcomes = {row.key.rpartition("/")[2]: row.error for row in done.operations if row.name == "fetch"}
    assert "is not that of `same_as`: 1000 bytes came" in outcomes["back.bin"]
    assert "there is nothing at" in outcomes["nothing"]
    assert numbers(done)["purged"] == 0
    rest = fetched(target, ledger, context, files=["back.bin"])
    assert rest.passed, rest.error
    assert numbers(rest) == {"purged": 3, "unknown": 0, "fetched": 3}, "the first was fetched, and is left where it is"


def test_files_of_a_service_of_which_only_the_url_is_known_come_back_too(server: RunningArc, tmp_path: Path) -> None:
    (tmp_path / "in.bin").write_bytes(bytes(range(256)) * 100)
    context = Context(folder=tmp_path)
    target = server.site(tmp_path)
    assert not target.introduces, "the case is void: pileup knows this service as its own"
    ledger = submitted(target, context, MADE, ["numbers", "back.bin"])
    done = fetched(target, ledger, context, files=["numbers"], same_as={"back.bin": "in.bin"})
    assert done.passed, done.error
    assert numbers(done) == {"purged": 4, "unknown": 0, "fetched": 8}
