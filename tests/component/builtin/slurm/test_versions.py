"""Row A2: the version of slurmrestd is asked for, and each is spoken to in its own words.

The answers of v0.0.38 were recorded from Slurm 22.05; those of newer ones are written by their published OpenAPI.
"""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from pileup.builtin.slurm.statistics import Requests
from pileup.builtin.slurm.target import SlurmTarget
from pileup.builtin.slurm.versions import number_of, state_word
from pileup.model.errors import Failed, Refused, TargetError
from pileup.plugin.batch import JobSpec, JobState

Answers = dict[str, dict[str, Any]]


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


OLD: Answers = {
    "GET /ping": {
        "meta": {"plugin": {"type": "openapi/v0.0.38"}, "Slurm": {"version": {"major": 22}, "release": "22.05.8"}},
        "errors": [],
        "pings": [{"hostname": "ce", "ping": "UP", "status": 0, "mode": "primary"}],
    },
    "POST /job/submit": {"meta": {}, "errors": [], "job_id": 17, "step_id": "BATCH", "job_submit_user_msg": ""},
    "GET /job/17": {"meta": {}, "errors": [], "jobs": [{"job_id": 17, "job_state": "RUNNING", "name": "a"}]},
    "DELETE /job/17": {"meta": {}, "errors": []},
    "GET /diag": {
        "statistics": {
            "jobs_submitted": 30,
            "schedule_cycle_mean": 5869,
            "rpcs_by_message_type": [
                {"message_type": "REQUEST_PING", "type_id": 1008, "count": 2, "average_time": 50, "total_time": 100}
            ],
        }
    },
}
FIRST_NEWER: Answers = OLD | {
    "GET /ping": {
        "meta": {"Slurm": {"release": "23.02.7"}},
        "warnings": [],
        "pings": [{"hostname": "ce", "pinged": "UP", "latency": 120, "mode": "primary"}],
    },
    "POST /job/submit": {"result": {"job_id": 17, "step_id": "batch", "error_code": 0}},
}
NEW: Answers = OLD | {
    "GET /ping": {
        "meta": {"plugin": {"data_parser": "data_parser/v0.0.41"}, "slurm": {"release": "24.05.3", "cluster": "c"}},
        "errors": [],
        "warnings": [],
        "pings": [{"hostname": "ce", "pinged": "UP", "latency": 120, "mode": "primary"}],
    },
    "POST /job/submit": {"result": {"job_id": 17}, "job_id": 17, "step_id": "batch", "errors": [], "warnings": []},
    "GET /job/17": {
        "jobs": [{"job_id": 17, "job_state": ["RUNNING", "COMPLETING"], "time_limit": number(60), "name": "a"}],
        "last_update": number(1795281195),
    },
    "GET /diag": {
        "statistics": {
            "jobs_submitted": 30,
            "schedule_cycle_mean": number(5869),
            "bf_when_last_cycle": {"set": False, "infinite": False, "number": 0},
            "rpcs_by_message_type": [
                {"message_type": "REQUEST_PING", "count": 2, "average_time": number(50), "total_time": 100}
            ],
        }
    },
}
NEWEST: Answers = NEW | {
    "GET /ping": {
        "meta": {"slurm": {"release": "25.11.0"}},
        "pings": [{"hostname": "ce", "responding": True, "latency": 120, "primary": True}],
    }
}


class Daemon(ThreadingHTTPServer):
    """A slurmrestd that serves some versions, by its answers to each."""

    daemon_threads = True

    def __init__(self, versions: dict[int, Answers], lists: bool) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {
            f"{key.partition(' ')[0]} /slurm/v0.0.{version}{key.partition(' ')[2]}": body
            for version, answers in versions.items()
            for key, body in answers.items()
        }
        if lists:
            paths = {f"/slurm/v0.0.{version}/ping": {"get": {}} for version in versions}
            self.answers["GET /openapi/v3"] = {"openapi": "3.0.2", "paths": {**paths, "/slurmdb/v0.0.99/jobs": {}}}
        self.refuses = False
        self.seen: list[tuple[str, dict[str, Any]]] = []


class Handler(BaseHTTPRequestHandler):
    """Answers by what the server knows, and 404 to all else."""

    protocol_version = "HTTP/1.1"
    server: Daemon

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = f"{self.command} {self.path}"
        self.server.seen.append((asked, json.loads(body or b"{}")))
        found = self.server.answers.get(asked)
        told = json.dumps(found or {"errors": [{"error_number": 404, "description": "no such path"}]}).encode()
        if "/slurm/v0.0.38/ping" in (found or {}).get("paths", ()):
            told = told.replace(b"/", b"\\/")  # as Slurm 22.05 writes it
        self.send_response(401 if self.server.refuses else 200 if found else 404)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


Serve = Callable[..., tuple[Daemon, SlurmTarget]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[Daemon] = []

    def begin(versions: dict[int, Answers], lists: bool = True) -> tuple[Daemon, SlurmTarget]:
        daemon = Daemon(versions, lists)
        running.append(daemon)
        Thread(target=daemon.serve_forever, daemon=True).start()
        return daemon, SlurmTarget(f"http://127.0.0.1:{daemon.server_address[1]}", patience=5 * 10**9)

    yield begin
    for each in running:
        each.shutdown()
        each.server_close()


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize(
    ("versions", "spoken", "release"),
    [
        ({36: OLD, 37: OLD, 38: OLD}, 38, "22.05.8"),
        ({37: OLD, 38: OLD, 39: FIRST_NEWER}, 39, "23.02.7"),
        ({39: FIRST_NEWER, 40: NEW, 41: NEW}, 41, "24.05.3"),
        ({42: NEW, 43: NEW, 44: NEWEST}, 44, "25.11.0"),
    ],
)
def test_a2_the_newest_version_that_both_know_is_spoken(
    serve: Serve, versions: dict[int, Answers], spoken: int, release: str, lists: bool
) -> None:
    daemon, target = serve(versions, lists)
    assert target.probe() == f"slurm {release}, REST v0.0.{spoken}"
    (taken,) = target.submit([JobSpec("a", 10**9)])
    assert taken.id == "17"
    assert target._state("17") is JobState.RUNNING
    assert target.cancel(["17"]) == []
    found = target.statistics()
    assert (found.figures["jobs_submitted"], found.figures["schedule_cycle_mean"]) == (30, 5869)
    assert "bf_when_last_cycle" not in found.figures
    assert found.requests == {"REQUEST_PING": Requests(2, 100)}
    sent = next(body for asked, body in daemon.seen if asked.startswith("POST"))
    script = sent["job"]["script"] if spoken >= 40 else sent["script"]
    assert script.startswith("#!/bin/sh\n")
    assert ("script" in sent) is (spoken < 40)
    variables = sent["job"]["environment"]
    assert isinstance(variables, dict if spoken == 38 else list)
    asked = [path for path, _ in daemon.seen]
    assert asked.count("GET /openapi/v3") == 1, "asked for once"
    tried = [path for path in asked if path.endswith("/ping")]
    assert len(tried) == (1 if lists else 44 - spoken + 2), "a daemon that lists its versions is not tried"


def test_a2_a_newer_version_than_is_known_is_left_to_one_that_is(serve: Serve) -> None:
    _, target = serve({44: NEWEST, 45: {}, 46: {}})
    assert target.probe().endswith("REST v0.0.44")


@pytest.mark.parametrize(
    ("versions", "lists", "told"),
    [
        ({36: OLD, 37: OLD}, True, r"slurmrestd serves v0\.0\.36, v0\.0\.37; expected one of v0\.0\.38 to v0\.0\.44"),
        ({45: NEWEST}, True, r"slurmrestd serves v0\.0\.45; expected one of"),
        ({37: OLD}, False, r"slurmrestd knows no /slurm/v0\.0\.38/ping, nor a newer one: HTTP 404"),
    ],
)
def test_a2_a_daemon_without_a_version_that_is_known_is_told(
    serve: Serve, versions: dict[int, Answers], lists: bool, told: str
) -> None:
    with pytest.raises(TargetError, match=told):
        serve(versions, lists)[1].probe()


def test_a2_who_is_not_let_in_is_told_so_and_no_version_is_taken_for_the_right_one(serve: Serve) -> None:
    daemon, target = serve({38: OLD})
    daemon.refuses = True
    with pytest.raises(Refused, match="GET /ping: 401"):
        target.submit([JobSpec("a")])
    daemon.refuses = False
    assert target.submit([JobSpec("a")])[0].id == "17"


def test_a2_a_daemon_that_is_away_has_taken_nothing() -> None:
    with pytest.raises(Failed, match="no connection"):
        SlurmTarget("http://127.0.0.1:9", patience=10**9).submit([JobSpec("a")])


def test_a2_numbers_and_states_of_every_version() -> None:
    assert [number_of(value) for value in (5, number(5), number(0), 5.0)] == [5, 5, 0, 5]
    infinite = {"set": True, "infinite": True, "number": 0}
    assert [number_of(value) for value in (infinite, {"set": False, "number": 3}, None, "5", True)] == [None] * 5
    assert [state_word(value) for value in ("PENDING", ["PENDING"], ["COMPLETED", "X"], [])] == [
        "PENDING",
        "PENDING",
        "COMPLETED",
        "",
    ]
