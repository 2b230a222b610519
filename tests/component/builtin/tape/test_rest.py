"""The Tape REST API by url, on the practice library: its waits, its faults, and what it says to wrong requests."""

import asyncio
import json
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.oauth.target import Oauth2Target
from pileup.builtin.practice.tape import PracticeTapeTarget
from pileup.builtin.tape.poll import TapePoll
from pileup.builtin.tape.project import TapeProject
from pileup.builtin.tape.rest import TapeRestTarget
from pileup.builtin.tape.stage import TapeStage
from pileup.builtin.tape.storm import TapeStorm
from pileup.model.cause import Cause
from pileup.model.errors import Failed, NotThere, Refused, TargetError
from pileup.model.record import Outcome
from pileup.model.suite import Credentials
from pileup.plugin import Context
from pileup.plugin.testing import Iteration, TestLedger, TestOp, run_once
from tests.servers.practice_issuer import practice_issuer
from tests.servers.practice_tape import RunningTape, practice_tape

MS = 10**6
QUICK: dict[str, Any] = {
    "speed_up": 1000,
    "drives": 2,
    "cartridges": 5,
    "mount": "10 s",
    "dismount": "5 s",
    "seek": "2 s",
    "speed": "1 MB/s",
    "size": "3 MB",
}
"""A file takes 5 to 20 ms."""
A, B = "/tape/0000000", "/tape/0000001"


def target(tape: RunningTape, **credentials: Any) -> TapeRestTarget:
    return TapeRestTarget(tape.url, Credentials.model_validate(credentials))


def context(tmp_path: Path, seconds: float = 20) -> Context:
    return replace(Context(folder=tmp_path), timeout=int(seconds * 1e9))


def artefact(result: Iteration) -> list[str]:
    return result.artefacts["not-delivered.csv"].decode().splitlines()


def truth(events: list[dict[str, str]]) -> dict[str, dict[str, int]]:
    """Return path -> event -> its last time, ns since the epoch."""
    found: dict[str, dict[str, int]] = {}
    for each in events:
        if each["path"]:
            found.setdefault(each["path"], {})[each["event"]] = int(each["time"])
    return found


@pytest.mark.timed
def test_a_stage_request_is_followed_to_its_end_and_its_times_are_those_of_the_library(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_tape(tmp_path, **QUICK) as tape:
        options = {"files": 30, "interval": 20 * MS, "context": context(tmp_path), "ledger": ledger}
        result = run_once(TapeStage, target(tape), **options)
        assert result.passed, result.error
        events = tape.events()
    names = [each.name for each in result.operations]
    numbers = {each.metric: each.value for each in result.numbers}
    assert names == ["submit", *["poll"] * int(numbers["polls"]), "release"]
    assert (numbers["files_delivered"], numbers["files_lost"]) == (30, 0)
    late = int(numbers["poll_gap"] * 1e9)
    assert late >= 20 * MS
    there = truth(events)
    assert len(ledger.ended) == len(there) == 30
    for each in ledger.ended:
        known = there[each.key.partition(" ")[2]]
        assert -5 * MS < known["wanted"] - each.start < max(5 * MS, late)
        assert 0 <= each.end - known["delivered"] < late + 5 * MS  # seen by the next poll
    assert sum(event["event"] == "released" for event in events) == 30


@pytest.mark.timed
def test_a_project_has_the_waits_of_the_library_in_real_time(tmp_path: Path) -> None:
    settings = {**QUICK, "nodes": 2, "max_transfers": 1, "together": 4, "files": 100}
    with practice_tape(tmp_path, **settings) as tape:
        system = PracticeTapeTarget(tape.url, poll=5 * MS)
        assert system.nodes == 2
        options = {"files": 8, "together": 4, "ahead": 8, "work": 0, "prefix": "/tape", "size": 3_000_000}
        result = run_once(TapeProject, system, number=3, context=context(tmp_path), **options)
        assert result.passed, result.error
        there = truth(tape.events())
    assert set(there) == {f"/tape/{6 + number // 4:07}/{24 + number:07}" for number in range(8)}
    spans = {
        "stager_queue": ("wanted", "queued"),
        "queue_wait": ("queued", "begun"),
        "transfer": ("begun", "delivered"),
    }
    seen = {
        name: {each.key: each.seconds for each in result.operations if each.name == name} for name in (*spans, "file")
    }
    assert all(found.keys() == set(there) for found in seen.values())
    for name, (begin, end) in spans.items():
        late = [seen[name][path] - (there[path][end] - there[path][begin]) / 1e9 for path in there]
        # the server's own times, or from what the client has asked before the server knew: a stall there is of one file
        assert abs(statistics.median(late)) < (0.005 if name == "stager_queue" else 1e-6), (name, late)
        assert min(late) > -1e-6, (name, late)
        assert max(late) < 1e-6 or name == "stager_queue", (name, late)
    for path in there:
        assert sum(seen[name][path] for name in spans) < seen["file"][path] + 1e-6
    assert {each.labels["drive"] for each in result.operations if each.name == "transfer"} <= {"d0", "d1"}


@pytest.mark.parametrize("system", [PracticeTapeTarget, TapeRestTarget])
def test_a_project_counts_files_that_do_not_come(tmp_path: Path, system: Callable[..., TapeRestTarget]) -> None:
    with practice_tape(tmp_path, **QUICK, together=2, unreadable=[0, 1, 2, 3, 4]) as tape:
        options = {"files": 2, "together": 2, "work": 0, "prefix": "/tape"}
        result = run_once(TapeProject, system(tape.url, poll=5 * MS), context=context(tmp_path), **options)
    assert result.error.startswith("2 files of 2 did not come: the cartridge cannot be read")


def test_what_a_storm_asks_for_is_accounted_for_by_polls(tmp_path: Path) -> None:
    ledger, number = TestLedger(), 10
    settings = {**QUICK, "speed_up": 10_000, "lost": "3 %", "silent": [17, 150], "unreadable": [1], "drives": 4}
    with practice_tape(tmp_path, **settings) as tape:
        system = target(tape)
        storm = TapeStorm(system, context(tmp_path), files=20, among=200)
        storm.ledger = ledger
        for turn in range(number):
            storm.run(TestOp(turn, ledger=ledger))
        assert ledger.open("recall") == 200
        options = {"drain": True, "interval": 50 * MS, "deadline": 1500 * MS, "context": context(tmp_path)}
        result = run_once(TapePoll, system, ledger=ledger, **options)
        assert result.passed, result.error
        assert run_once(TapePoll, system, ledger=ledger, context=context(tmp_path)).operations == ()
        events = tape.events()
    assert ledger.open() == 0
    counts = {each.metric: each.value for each in result.numbers}
    assert (counts["files_over"], counts["files_unanswered"], counts["open"]) == (200, 2, 0)
    said = {
        name: {row["path"] for row in events if row["event"] == name} for name in ("lost", "unreadable", "delivered")
    }
    assert len(said["lost"]) == counts["files_lost"] > 0
    assert len(said["unreadable"]) == counts["files_failed"] > 0
    assert len(said["delivered"]) == counts["files_delivered"]
    silent = {row["path"] for row in events if row["event"] == "queued" and row["value"] in {"17", "150"}}
    head, *named = artefact(result)
    fates = {path: fate for _, path, fate, _ in (row.split(",") for row in named)}
    assert head == "request,path,fate,reason"
    assert fates == (
        dict.fromkeys(said["lost"], "lost")
        | dict.fromkeys(said["unreadable"], "failed")
        | dict.fromkeys(silent, "unanswered")
    )
    polls = [each for each in result.operations if each.name == "poll"]
    assert len(polls) < 10 * number * 5, "whole requests, not files"


def test_a_drive_that_is_down_makes_files_late_and_they_come_without_a_person(tmp_path: Path) -> None:
    settings = {**QUICK, "speed_up": 200, "drives": 1, "down": [{"drive": 0, "at": "40 s", "for": "40 s"}]}
    with practice_tape(tmp_path, **settings) as tape:
        result = run_once(TapeStage, target(tape), files=20, interval=20 * MS, context=context(tmp_path))
        events = tape.events()
    assert result.passed, result.error
    assert {"drive down", "drive up", "requeued"} <= {each["event"] for each in events}
    down = [int(each["time"]) for each in events if each["event"].startswith("drive ")]
    assert not any(down[0] < int(each["time"]) < down[1] for each in events if each["event"] == "delivered")


def test_what_does_not_come_in_time_is_unfinished_or_cancelled(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_tape(tmp_path, **QUICK, silent=[0, 1]) as tape:
        options = {"files": 2, "interval": 10 * MS, "context": context(tmp_path), "ledger": ledger}
        late = run_once(TapeStage, target(tape), deadline=100 * MS, **options)
        assert late.error.startswith("2 files of 2 did not come: /tape/0000000 is unanswered: still SUBMITTED")
        assert {each.outcome for each in ledger.ended} == {Outcome.UNFINISHED}
        assert tape.ask("GET", "/counts").json["cancelled"] == 2, "nobody waits for them"
    with practice_tape(tmp_path, **QUICK, silent=[0]) as tape:
        cancelled = run_once(TapeStage, target(tape), cancel_after=100 * MS, **options)
        assert cancelled.passed, cancelled.error
        assert [each.name for each in cancelled.operations].count("cancel") == 1
    assert [(each.key.partition(" ")[2], each.cause) for each in ledger.ended if each.cause] == [(A, Cause.CANCELLED)]


def test_bad_input_has_the_answers_of_the_standard(tmp_path: Path) -> None:
    with practice_tape(tmp_path, **QUICK) as tape:
        system = target(tape)
        assert system.probe() == "Tape REST API v1 of pileup-practice"
        request = system.stage([A, "/nowhere"])
        assert {file.path: file.error for file in system.staged(request)}["/nowhere"].startswith("USER ERROR")
        assert system.locality([A, "/nowhere"])["/nowhere"].startswith("USER ERROR")
        with pytest.raises(NotThere, match="404 Not Found: Not found: There is no stage request x"):
            system.release("x", [A])
        with pytest.raises(Failed, match="400 Bad Request: File missing from stage request: The file /tape/0000001"):
            system.cancel(request, [B])
        system.release(request, [A])  # before it has come: it does not stay then
        tape.counted("delivered", 1)
        system.cancel(request, [A])  # too late: nothing happens
        assert [file.state for file in system.staged(request) if file.path == A] == ["COMPLETED"]
        with pytest.raises(Failed, match="400 Bad Request: JSON Validation error: files - Field does not exist"):
            system.stage([])
        with pytest.raises(Refused, match=r"413 .*: 100000 files; expected at most 10000"):
            system.stage([f"/tape/{number:07}" for number in range(100_000)])
        system.forget(request)
        with pytest.raises(NotThere):
            system.staged(request)


def test_files_of_requests_that_are_not_taken_have_outcomes(tmp_path: Path) -> None:
    ledger = TestLedger()
    with practice_tape(tmp_path, **QUICK, most=3) as tape:
        many = run_once(TapeStorm, target(tape), files=5, ledger=ledger)
        strange = run_once(
            TapeStage, target(tape), files=1, prefix="/nowhere", ledger=ledger, context=context(tmp_path)
        )
    assert (many.outcome, many.error.partition(": ")[2][:3]) == (Outcome.REFUSED, "413")
    assert [each.outcome for each in ledger.ended[:5]] == [Outcome.REFUSED] * 5
    assert "/nowhere/0000000 is failed: USER ERROR" in strange.error
    assert "USER ERROR" in ledger.ended[5].error
    gone = TapeRestTarget(tape.url)
    assert run_once(TapeStorm, gone, files=2, ledger=ledger).outcome is Outcome.FAILED
    with pytest.raises(TargetError, match="cannot be reached"):
        gone.probe()


def test_requests_are_claimed_before_they_are_made_and_when_they_are_over(tmp_path: Path) -> None:
    inside = context(tmp_path)
    options = {"files": 1, "prefix": "/tape", "together": 0, "work": 0}
    with practice_tape(tmp_path, **QUICK) as tape:
        storm = run_once(TapeStorm, target(tape), files=2, ledger=TestLedger())
        stage = run_once(TapeStage, target(tape), context=inside, files=2, ledger=TestLedger())
        many = run_once(TapeStorm, target(tape), files=20_000, among=20_000, ledger=TestLedger())
        project = run_once(TapeProject, target(tape), context=inside, ledger=TestLedger(), **options)
    assert [(bool(id_), what) for _, id_, what in storm.claims] == [(False, "request"), (True, "request")]
    for over in (stage, project):
        assert [(bool(id_), what) for _, id_, what in over.claims[:2]] == [(False, "request"), (True, "request")]
        assert [what for _, _, what in over.claims[2:]] == ["released"]
        assert len({name for name, _, _ in over.claims}) == 1
    assert [what for _, _, what in many.claims] == ["request", "released"], "it was refused"


def test_an_expired_token_is_refused_and_named_as_such(tmp_path: Path) -> None:
    with practice_issuer(tmp_path, lifetime="1 s") as issuer:
        me = Credentials.model_validate({"user": "pileup", "password": "open-sesame"})
        token = Oauth2Target(issuer.url, me).fetch("storage.stage:/tape", "").token
        with practice_tape(tmp_path, **QUICK, keys=str(issuer.keys)) as tape:
            system = target(tape, token=token)
            assert system.stage([A])
            with pytest.raises(Refused, match=r"403 .*the scope of the token does not allow /other"):
                system.stage(["/other/0000001"])
            time.sleep(1.1)
            ledger = TestLedger()
            refused = run_once(TapeStorm, system, files=2, ledger=ledger)
            with pytest.raises(Refused, match="401") as problem:
                target(tape).stage([A])
    assert problem.value.cause is Cause.NONE
    assert refused.outcome is Outcome.REFUSED
    assert [(each.outcome, each.cause) for each in ledger.ended] == [(Outcome.REFUSED, Cause.TOKEN_EXPIRED)] * 2


class Elsewhere(BaseHTTPRequestHandler):
    """A server whose metadata name an API at a host of somebody else, or which has none."""

    uri: str | None = None
    infos: list[dict[str, str]] | None = None

    def do_GET(self) -> None:
        endpoint = {"uri": self.uri, "version": "v1", "metadata": {}}
        self._answer(None if self.uri is None else {"sitename": "x", "endpoints": [endpoint]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(self.infos)

    def _answer(self, found: object) -> None:
        data = json.dumps(found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_HEAD = do_GET  # noqa: N815  the name that the library asks for

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_credentials_go_to_no_host_that_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setattr(Elsewhere, "uri", "http://evil.example:80/api/v1")
        with pytest.raises(
            TargetError, match=r"is at http://evil\.example/api/v1; expected http://127\.0\.0\.1, at any port"
        ):
            TapeRestTarget(url).probe()
        assert TapeRestTarget(url, trust=["evil.example"]).probe() == "Tape REST API v1 of x"
        monkeypatch.setattr(Elsewhere, "uri", None)
        with pytest.raises(
            TargetError, match=r"names no Tape REST API, and is none: there is nothing at 'archiveinfo'"
        ):
            TapeRestTarget(url).probe()
        monkeypatch.setattr(Elsewhere, "infos", [{"path": "/", "locality": "NONE"}])
        assert TapeRestTarget(url + "api/v1").probe().startswith("Tape REST API v1 of BaseHTTP"), "it is the API itself"
        server.shutdown()


def test_who_leaves_takes_a_request_back(tmp_path: Path) -> None:
    async def left(system: PracticeTapeTarget) -> None:
        steps = system.recall(0, A, 1)
        async for _ in steps:
            break
        await steps.aclose()

    with practice_tape(tmp_path, **QUICK, silent=[0]) as tape:
        asyncio.run(left(PracticeTapeTarget(tape.url, poll=5 * MS)))
        counts = tape.ask("GET", "/counts").json
    assert (counts["requests"], counts["cancelled"]) == (0, 1)
