"""Requests without data: what is asked in which order, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pileup.builtin.storage.pretend import StorageFollow, StoragePretend
from pileup.builtin.tape.requests import Request
from pileup.model.errors import NotThere, Refused
from pileup.model.record import Outcome
from pileup.plugin import Context
from pileup.plugin.tape import FileState, StagedFile, StagingTarget
from pileup.plugin.testing import TestLedger, TestOp, run_once


class Pool(StagingTarget):
    """A system that is ready after so many polls of a request."""

    kind = "pool"
    can_open = True

    def __init__(self, polls: int = 1) -> None:
        super().__init__("pool://here")
        self.polls = polls
        self.asked: dict[str, list[str]] = {}
        self.seen: dict[str, int] = {}
        self.acts: list[str] = []

    def probe(self) -> str:
        return "a pool"

    @property
    def opens(self) -> bool:
        return self.can_open

    def stage(self, paths: Sequence[str], lifetime: int = 0, node: int = 0) -> str:
        if any("full" in path for path in paths):
            raise Refused("no room")
        number = f"r{len(self.asked)}"
        self.asked[number] = list(paths)
        return number

    def staged(self, request: str) -> list[StagedFile]:
        if request not in self.asked:
            raise NotThere(request)
        self.seen[request] = self.seen.get(request, 0) + 1
        state = FileState.COMPLETED if self.seen[request] >= self.polls else FileState.STARTED
        return [StagedFile(path, state) for path in self.asked[request]]

    def cancel(self, request: str, paths: Sequence[str]) -> None:
        self.acts.append(f"cancel {request}")

    def release(self, request: str, paths: Sequence[str]) -> None:
        self.acts.append(f"release {request} {' '.join(paths)}")

    def open_files(self, request: str, paths: Sequence[str]) -> None:
        self.acts.append(f"open {request} {' '.join(paths)}")

    def close_files(self, request: str, paths: Sequence[str]) -> None:
        self.acts.append(f"close {request} {' '.join(paths)}")

    def forget(self, request: str) -> None:
        self.acts.append(f"forget {request}")

    def locality(self, paths: Sequence[str]) -> dict[str, str]:
        return {}


def context() -> Context:
    return replace(Context(), timeout=10**10)


def made(pool: Pool, ledger: TestLedger) -> list[str]:
    """Make a request and leave it open; return its operations."""
    test = StoragePretend(pool, context(), together=1)
    test.ledger = ledger
    op = TestOp(0, ledger=ledger)
    test.run(op)
    return [each.name for each in op.operations]


def test_a_request_is_polled_opened_closed_and_ended() -> None:
    pool, ledger = Pool(polls=3), TestLedger()
    assert made(pool, ledger) == ["request"]
    assert ledger.open("wait") == 1
    for polls in (1, 2, 3):
        result = run_once(StorageFollow, pool, ledger=ledger, context=context())
        assert result.passed, result.error
        names = [each.name for each in result.operations]
        assert names == (["poll", "open", "close", "done"] if polls == 3 else ["poll"])
    path = "/pretend/0000000/0000000"
    assert pool.acts == [f"open r0 {path}", f"close r0 {path}", f"release r0 {path}"]
    assert [each.value for each in result.numbers if each.metric == "polls"] == [3]
    assert [(each.name, each.outcome) for each in ledger.ended] == [("wait", Outcome.PASSED)]


def test_a_system_that_cannot_open_is_not_asked_to() -> None:
    pool, ledger = Pool(), TestLedger()
    pool.can_open = False
    made(pool, ledger)
    result = run_once(StorageFollow, pool, ledger=ledger, context=context())
    assert [each.name for each in result.operations] == ["poll", "done"]


def test_a_request_that_is_refused_ends_its_wait() -> None:
    pool, ledger = Pool(), TestLedger()
    assert not run_once(StoragePretend, pool, ledger=ledger, context=context(), prefix="/full").passed
    assert [(each.name, each.outcome) for each in ledger.ended] == [("wait", Outcome.REFUSED)]
    assert run_once(StorageFollow, pool, ledger=ledger, context=context()).operations == ()


def test_polls_are_due_at_multiples_of_the_interval_after_the_request() -> None:
    request = Request("r0", ["/a"], 1000)
    assert (request.due(0), request.due(300)) == (1000, 1300)
    for polled, due in ((1300, 1600), (1599, 1600), (1900, 2200), (2250, 2500)):
        request.polled = polled
        assert request.due(300) == due
