"""Which files are asked for, and what becomes of those of a request."""

from pathlib import Path

import pytest

from pileup.builtin.tape.files import numbered
from pileup.builtin.tape.requests import RECALL, Fate, Request, Requests
from pileup.builtin.tape.storm import TapeStorm
from pileup.model.cause import Cause
from pileup.model.record import Outcome
from pileup.plugin import Context
from pileup.plugin.tape import FileState, StagedFile
from pileup.plugin.testing import TestLedger

S = 10**9


def made(*paths: str) -> tuple[Request, TestLedger]:
    request, ledger = Request("r1", paths, 10 * S), TestLedger()
    for path in paths:
        ledger.begin(RECALL, request.key(path), 10 * S)
    return request, ledger


def test_each_file_ends_once_with_its_fate() -> None:
    request, ledger = made("/a", "/b", "/c", "/d", "/e")
    said = [
        StagedFile("/a", FileState.COMPLETED),
        StagedFile("/b", FileState.FAILED, "its cartridge is bad"),
        StagedFile("/c", FileState.CANCELLED),
        StagedFile("/e", FileState.STARTED),
    ]
    fates = request.tell(ledger, said, 12 * S)
    assert [(fate.path, fate.word) for fate in fates] == [
        ("/a", "delivered"),
        ("/b", "failed"),
        ("/c", "cancelled"),
        ("/d", "lost"),
    ]
    ended = {each.key: each for each in ledger.ended}
    assert ended["r1 /a"].outcome is Outcome.PASSED
    assert (ended["r1 /b"].error, ended["r1 /b"].cause) == ("its cartridge is bad", Cause.NONE)
    assert ended["r1 /c"].cause is Cause.CANCELLED
    assert ended["r1 /d"].cause is Cause.FORGOTTEN
    assert {(each.start, each.end) for each in ledger.ended} == {(10 * S, 12 * S)}
    assert (request.left, request.delivered, ledger.keys(RECALL)) == (["/e"], ["/a"], ["r1 /e"])
    assert request.tell(ledger, [StagedFile("/e", FileState.COMPLETED)], 17 * S) == [Fate("/e", "delivered")]
    assert (request.left, request.delivered, request.gap) == ([], ["/a", "/e"], 5 * S)


def test_a_request_that_is_not_known_loses_all_of_its_files() -> None:
    request, ledger = made("/a", "/b")
    assert [fate.word for fate in request.tell(ledger, None, 11 * S)] == ["lost", "lost"]
    assert {each.error for each in ledger.ended} == {"the library does not know the request any more"}


def test_what_has_no_end_at_the_deadline_is_unfinished() -> None:
    request, ledger = made("/a", "/b")
    said = [StagedFile("/a", FileState.SUBMITTED), StagedFile("/b", FileState.STARTED)]
    assert request.tell(ledger, said, 12 * S, 3 * S) == []
    fates = request.tell(ledger, said, 13 * S, 3 * S)
    assert [fate.reason for fate in fates] == ["still SUBMITTED at the deadline", "still STARTED at the deadline"]
    assert {each.outcome for each in ledger.ended} == {Outcome.UNFINISHED}


def test_requests_are_polled_in_turn_and_put_away_when_they_are_over() -> None:
    requests = Requests()
    first, second = Request("1", ["/a"], 1), Request("2", ["/b"], 2)
    for each in (first, second):
        requests.add(each)
    assert requests.take(0) is None
    assert requests.take(5) is first
    assert (len(requests), requests.take(5), requests.take(5)) == (2, second, None)
    first.polled = 9
    requests.put(first)
    second.tell(TestLedger(), None, 9)
    requests.put(second)
    assert (len(requests), requests.take(8), requests.take(9)) == (1, None, first)


def test_files_have_numbers_as_names_and_come_round_again() -> None:
    test = TapeStorm(files=4, among=10, first=90, prefix="/t", together=5)
    assert test.chosen(2) == [
        "/t/0000019/0000098",
        "/t/0000019/0000099",
        "/t/0000018/0000090",
        "/t/0000018/0000091",
    ]
    assert numbered("/t", 7) == "/t/0000007"
    with pytest.raises(ValueError, match="a request for 11 of 10 files; expected at most 10"):
        TapeStorm(files=11, among=10)


def test_files_come_from_a_list_beside_the_suite(tmp_path: Path) -> None:
    (tmp_path / "paths.txt").write_text("# mine\n/a//b\n\n/c\n")
    context = Context(folder=tmp_path)
    assert TapeStorm(None, context, files=2, paths="paths.txt").chosen(3) == ["/a/b", "/c"]
    for text, says in [("", "has no paths"), ("a/b\n", "paths.txt:1: 'a/b'; expected a path that begins with /")]:
        (tmp_path / "paths.txt").write_text(text + " " * len(text))
        with pytest.raises(ValueError, match=says):
            TapeStorm(None, context, files=1, paths="paths.txt")
    with pytest.raises(ValueError, match="No such file or directory; expected a file beside the suite"):
        TapeStorm(None, context, files=1, paths="none.txt")
