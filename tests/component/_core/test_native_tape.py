"""The practice tape library in this process: the WLCG Tape REST API, reads for copy commands, and its events."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from pileup._core._native import PracticeTape
from tests.servers.practice_tape import Answer, RunningTape, practice_tape

S = 10**9
ONE, TWO = "/tape/0000001", "/tape/0000002"


@pytest.fixture
def tape(tmp_path: Path) -> Iterator[RunningTape]:
    with practice_tape(tmp_path) as running:
        yield running


def problem(answer: Answer) -> tuple[int, str]:
    """Status and title of an error, which is told as RFC 7807 wants it."""
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == answer.status
    assert answer.json["detail"]
    return answer.status, answer.json["title"]


def test_it_says_where_its_api_is(tape: RunningTape) -> None:
    about = tape.ask("GET", "/.well-known/wlcg-tape-rest-api").json
    assert about["sitename"] == "pileup-practice"
    (endpoint,) = about["endpoints"]
    assert (endpoint["uri"], endpoint["version"]) == (f"http://127.0.0.1:{tape.server.port}/api/v1", "v1")


def test_files_are_staged_and_released_and_the_events_have_the_exact_times(tape: RunningTape) -> None:
    before = int(time.time())
    answer = tape.ask("POST", "/api/v1/stage", {"files": [{"path": ONE}, {"path": "/tape//0000002"}, {"path": "/x"}]})
    request = answer.json["requestId"]
    assert (answer.status, answer.headers["location"].endswith(f"/api/v1/stage/{request}")) == (201, True)
    assert tape.done(request) == {ONE: "COMPLETED", TWO: "COMPLETED", "/x": "FAILED"}
    told = tape.ask("GET", f"/api/v1/stage/{request}").json
    assert told["id"] == request
    assert before <= told["createdAt"] <= told["startedAt"] <= told["completedAt"] <= time.time()
    assert [("error" in file, "onDisk" in file) for file in told["files"]] == [(False, False)] * 2 + [(True, False)]
    where = {"paths": [ONE, "/tape/0000003", "/x"]}
    infos = tape.ask("POST", "/api/v1/archiveinfo/", where).json
    assert [info.get("locality") for info in infos] == ["DISK_AND_TAPE", "TAPE", None]
    assert infos[2]["error"].startswith("USER ERROR")
    assert tape.ask("POST", f"/api/v1/release/{request}", {"paths": [ONE]}).status == 200
    assert tape.ask("POST", "/api/v1/archiveinfo", where).json[0]["locality"] == "TAPE"
    events = tape.events()
    start = int(events[0]["time"])
    assert all(int(event["time"]) - start == -(-int(event["library"]) // 200) for event in events)
    assert [int(event["library"]) for event in events] == sorted(int(event["library"]) for event in events)
    at = {(event["event"], event["path"]): int(event["library"]) for event in events}
    handed = at["queued", ONE]
    waits = [at[event, ONE] - handed for event in ("assigned", "mounted", "begun", "delivered")]
    assert waits == [0, 10 * S, 12 * S, 15 * S]
    assert [at[event, TWO] - handed for event in ("assigned", "begun", "delivered")] == [15 * S, 17 * S, 20 * S]
    assert at["unknown", "/x"] == at["requested", ""] == at["wanted", ONE] == handed
    assert at["released", ONE] == at["left", ONE]
    assert (events[0]["event"], events[-1]["event"]) == ("start", "stop")


@pytest.mark.timed
def test_a_file_is_there_when_the_settings_say(tape: RunningTape) -> None:
    begin = time.monotonic()
    assert tape.ask("POST", "/read", {"path": ONE}).status == 200
    assert 0.075 <= time.monotonic() - begin < 0.075 + 0.025


def test_a_copy_is_answered_when_its_file_is_there_and_shares_the_read(tape: RunningTape) -> None:
    got: list[tuple[Answer, int]] = []

    def read() -> None:
        got.append((tape.ask("POST", "/read", {"path": ONE}), time.time_ns()))

    request = tape.stage(ONE)
    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [(answer.status, answer.json) for answer, _ in got] == [(200, {"path": ONE, "size": 3_000_000})] * 3
    content = tape.ask("GET", f"/read?path={ONE}&content=true")
    assert content.body == (f"{ONE}\n".encode() * 300_000)[:3_000_000]
    assert all(content.headers[f"x-pileup-{name}"] == "0" for name in ("stager-queue", "queue-wait", "transfer"))
    assert tape.states(request) == {ONE: "COMPLETED"}
    events = tape.events()
    (delivered,) = (int(event["time"]) for event in events if event["event"] == "delivered")
    assert all(delivered <= when for _, when in got)
    assert all(0 <= int(answer.headers["x-pileup-transfer"]) <= 3 * S // 200 for answer, _ in got)
    assert all(0 <= int(answer.headers["x-pileup-queue-wait"]) <= 12 * S // 200 for answer, _ in got)
    assert sum(event["event"] == "wanted" for event in events) == 5


def test_who_leaves_does_not_want_the_file_any_more(tmp_path: Path) -> None:
    with practice_tape(tmp_path, silent=[0]) as tape:
        leaves = http.client.HTTPConnection("127.0.0.1", tape.server.port, timeout=10)
        leaves.request("GET", f"/read?path={ONE}")
        tape.counted("handed", 1)
        leaves.close()
        tape.counted("cancelled", 1)
        assert tape.ask("GET", "/counts").json["handed"] == 0


def test_what_is_done_cannot_be_cancelled_and_what_is_not_can(tape: RunningTape) -> None:
    done = tape.stage(ONE)
    tape.done(done)
    assert tape.ask("POST", f"/api/v1/stage/{done}/cancel", {"paths": [ONE]}).status == 200
    assert tape.states(done) == {ONE: "COMPLETED"}
    stays = tape.ask("POST", "/api/v1/archiveinfo", {"paths": [ONE]}).json[0]
    assert stays["locality"] == "DISK_AND_TAPE"
    assert tape.ask("DELETE", f"/api/v1/stage/{done}").status == 200
    assert problem(tape.ask("GET", f"/api/v1/stage/{done}")) == (404, "Not found")
    assert tape.ask("POST", "/api/v1/archiveinfo", {"paths": [ONE]}).json[0]["locality"] == "TAPE"


def test_a_file_that_is_cancelled_is_not_read(tmp_path: Path) -> None:
    with practice_tape(tmp_path, speed_up=1) as tape:
        request = tape.stage(ONE, TWO)
        assert tape.ask("POST", f"/api/v1/stage/{request}/cancel/", {"paths": [TWO]}).status == 200
        assert tape.states(request) == {ONE: "STARTED", TWO: "CANCELLED"}
        assert tape.ask("GET", "/counts").json["handed"] == 1


def test_a_file_that_is_released_before_it_comes_does_not_stay(tape: RunningTape) -> None:
    request = tape.stage(ONE)
    assert tape.ask("POST", f"/api/v1/release/{request}", {"paths": [ONE]}).status == 200
    assert tape.done(request) == {ONE: "COMPLETED"}
    assert tape.ask("GET", "/counts").json["disk"] == 0


def test_a_lifetime_ends_by_itself(tape: RunningTape) -> None:
    tape.done(tape.stage(ONE, diskLifetime="PT10S"))
    tape.counted("disk", 0)
    events = {event["event"]: int(event["library"]) for event in tape.events()}
    assert events["left"] - events["delivered"] == 10 * S


@pytest.mark.parametrize(
    ("method", "path", "body", "told"),
    [
        ("POST", "/api/v1/stage", {"files": []}, (400, "JSON Validation error")),
        ("POST", "/api/v1/stage", {}, (400, "JSON Validation error")),
        ("POST", "/api/v1/stage", {"files": [{"path": ONE, "diskLifetime": "1 h"}]}, (400, "JSON Validation error")),
        ("POST", "/api/v1/archiveinfo", {"paths": []}, (400, "JSON Validation error")),
        ("POST", "/api/v1/archiveinfo", {"paths": [5]}, (400, "JSON Validation error")),
        ("GET", "/api/v1/stage/5", None, (404, "Not found")),
        ("DELETE", "/api/v1/stage/5", None, (404, "Not found")),
        ("POST", "/api/v1/stage/5/cancel", {"paths": [ONE]}, (404, "Not found")),
        ("POST", "/api/v1/release/5", {"paths": [ONE]}, (404, "Not found")),
        ("PUT", "/api/v1/stage", None, (405, "Method not allowed")),
        ("GET", "/api/v2/stage", None, (404, "Not found")),
        ("POST", "/read", {"path": "/x"}, (404, "Not found")),
        ("POST", "/read", {"file": "/x"}, (400, "JSON Validation error")),
    ],
)
def test_what_cannot_be_is_told_as_the_standard_says(
    tape: RunningTape, method: str, path: str, body: object, told: tuple[int, str]
) -> None:
    assert problem(tape.ask(method, path, body)) == told


def test_paths_of_another_request_are_refused_and_nothing_is_done(tmp_path: Path) -> None:
    with practice_tape(tmp_path, speed_up=1) as tape:
        request = tape.stage(ONE)
        tape.stage(TWO)
        for act in (f"stage/{request}/cancel", f"release/{request}"):
            answer = tape.ask("POST", f"/api/v1/{act}", {"paths": [ONE, TWO]})
            assert problem(answer) == (400, "File missing from stage request")
            assert TWO in answer.json["detail"]
        assert tape.states(request) == {ONE: "STARTED"}


def test_a_hundred_thousand_files_are_taken_or_refused_whole(tmp_path: Path) -> None:
    files = [f"/tape/{number:07}" for number in range(100_000)]
    with practice_tape(tmp_path, files=100_000, most=100_000, max_transfers=10) as tape:
        assert problem(tape.ask("POST", "/api/v1/stage", {"files": [{"path": "/x"}] * 100_001}))[0] == 413
        request = tape.stage(*files)
        counts = tape.ask("GET", "/counts").json
        assert counts["waiting"] + counts["handed"] + counts["delivered"] == 100_000
        assert counts["handed"] == 10
        assert list(tape.states(request)) == files
        assert tape.ask("DELETE", f"/api/v1/stage/{request}").status == 200
        counts = tape.ask("GET", "/counts").json
        assert (counts["waiting"], counts["handed"], counts["disk"]) == (0, 0, 0)


def test_at_most_so_many_are_at_the_library_at_a_time(tmp_path: Path) -> None:
    with practice_tape(tmp_path, drives=4, cartridges=20, max_transfers=3, speed_up=2000) as tape:
        tape.done(tape.stage(*(f"/tape/{number:07}" for number in range(40))))
        events = tape.events()
    at_library = most = 0
    for event in events:
        at_library += (event["event"] == "queued") - (event["event"] == "delivered")
        most = max(most, at_library)
    assert (most, at_library) == (3, 0)


def test_what_the_library_loses_or_never_serves_is_known_by_name(tmp_path: Path) -> None:
    files = [f"/tape/{number:07}" for number in range(100)]
    with practice_tape(tmp_path, lost="5 %", silent=[7], unreadable=[3], cartridges=10, speed_up=10**6) as tape:
        request = tape.stage(*files)
        tape.counted("handed", 1)
        states = tape.states(request)
        localities = [info["locality"] for info in tape.ask("POST", "/api/v1/archiveinfo", {"paths": files}).json]
        events = tape.events()
    named = {
        word: {event["path"] for event in events if event["event"] == word}
        for word in ("lost", "delivered", "unreadable")
    }
    assert set(files) - set(states) == named["lost"]
    assert {path for path, state in states.items() if state == "COMPLETED"} == named["delivered"]
    assert {path for path, state in states.items() if state == "FAILED"} == named["unreadable"]
    assert [path for path, state in states.items() if state == "SUBMITTED"] == [files[7]]
    assert named["lost"]
    assert named["unreadable"] <= {path for path, where in zip(files, localities, strict=True) if where == "LOST"}
    assert "DISK_AND_TAPE" in localities


def test_faults_and_a_wrong_token_are_told_as_problems(tmp_path: Path) -> None:
    fault = {"kind": "error", "status": 502, "paths": ["/api/v1/stage"]}
    with practice_tape(tmp_path, token="open", faults=[fault]) as tape:
        refused = tape.ask("GET", "/api/v1/stage/5")
        assert problem(refused) == (401, "Unauthorized")
        assert refused.headers["www-authenticate"] == "Bearer"
        assert problem(tape.ask("GET", "/api/v1/stage/5", Authorization="Bearer open")) == (502, "Bad Gateway")


def test_tokens_of_an_issuer_are_asked_for_and_their_scopes_hold_for_the_files(tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    public = {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": "k", "alg": "ES256"}
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [public]}))

    def bearer(scope: str, lasts: int = 60) -> str:
        now = int(time.time())
        claims = {"iss": "i", "sub": "s", "aud": "https://wlcg.cern.ch/jwt/v1/any", "nbf": now - 100, "jti": "7"}
        return "Bearer " + jwt.encode(claims | {"exp": now + lasts, "scope": scope}, key, "ES256", {"kid": "k"})

    with practice_tape(tmp_path, keys=str(tmp_path / "keys.json")) as tape:
        wanted = {"files": [{"path": ONE}]}

        def stage(scope: str, lasts: int = 60) -> Answer:
            return tape.ask("POST", "/api/v1/stage", wanted, Authorization=bearer(scope, lasts))

        expired = stage("storage.stage:/", -1)
        assert problem(expired) == (401, "Unauthorized")
        assert "expired" in expired.json["detail"]
        assert problem(stage("storage.read:/")) == (403, "Forbidden")
        assert problem(stage("storage.stage:/other")) == (403, "Forbidden")
        answer = stage("storage.stage:/tape")
        assert answer.status == 201
        request = f"/api/v1/stage/{answer.json['requestId']}"
        assert tape.ask("GET", request, Authorization=bearer("storage.stage:/tape")).status == 200
        assert problem(tape.ask("GET", request, Authorization=bearer("storage.read:/"))) == (403, "Forbidden")
        look = tape.ask("POST", "/api/v1/archiveinfo", {"paths": [ONE]}, Authorization=bearer("storage.read:/"))
        assert look.status == 200


@pytest.mark.parametrize("wrong", ["", "5", '{"drive": 5}', '{"drives": 0}', '{"speed_up": 0}'])
def test_wrong_settings_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        PracticeTape(wrong)
