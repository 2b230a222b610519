"""Traces of sessions whose round trips and waits are known: a dialogue, the practice storage."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median

import psutil
import pytest

from pileup._core._native import PracticeStorage, now
from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.fleet.sessions import make_sessions
from pileup.model.errors import TargetError
from pileup.plugin.sessions import acts
from pileup.plugin.sessions.seen import DOWN, UP
from pileup.plugin.sessions.span import Act, Span
from pileup.run.recovery import leftovers
from pileup.run.tracing import dialogue
from pileup.run.tracing.trace import Traced, trace
from tests.support import require_program

MS = 10**6
NEAR = [0, 10 * MS, 30 * MS, 60 * MS]


def dialogues(script: str) -> Act:
    """Return an act that follows a script with the relay."""

    def act(via: str, times: int) -> list[Span]:
        host, _, port = via.rpartition(":")
        found = []
        for _ in range(times):
            begin = now()
            dialogue.talk(host, int(port), script)
            found.append(Span(begin, now()))
        return found

    return act


def traced(script: str, wait: float, added: list[int], times: int = 2) -> Traced:
    port, end = dialogue.serve(script, wait)
    try:
        return trace(dialogues(script), ("127.0.0.1", port), added, times)
    finally:
        end()


@pytest.mark.long
def test_the_dialogue_of_a_catalogue_is_explained() -> None:
    """14 messages, 8 there and 6 back; 1.6 s of look-up in secret: counted, found, nothing left over."""
    script = dialogue.words(dialogue.SCRIPT)
    assert (script.count(">"), script.count("<")) == (8, 6)
    found = traced(script, 1.6, [0, 100 * MS], times=1)
    for each in found.sessions:
        assert (each.messages(UP), each.messages(DOWN)) == (8, 6)
        assert (each.connects, each.turns) == (1, 6)
        assert each.server == pytest.approx(1.6e9, rel=0.02)
        assert abs(each.unexplained) < 50 * MS  # of which a busy machine has some
    assert found.failed == ()


@pytest.mark.timed
@pytest.mark.idle
def test_the_slope_is_what_was_counted() -> None:
    found = traced(">" + "<>" * 4 + "<", 0.02, [0, 10 * MS, 50 * MS, 150 * MS], times=4)
    assert {each.round_trips for each in found.sessions} == {6}
    assert found.line is not None
    assert found.line.slope == pytest.approx(6, rel=0.02)
    assert found.line.agrees(6) is True and found.line.agrees(5) is False


def test_a_server_that_speaks_first_is_waited_for_twice() -> None:
    found = traced("<", 0.0, [40 * MS], times=1)
    assert (found.sessions[0].connects, found.sessions[0].turns) == (1, 1)
    assert found.line is None
    assert (found.direct, found.cost) == (None, None)


@pytest.fixture
def storage() -> Iterator[str]:
    """The url of a practice storage whose requests take 5 ms."""
    server = PracticeStorage(json.dumps({"service": {"fixed": 5 * MS}}))
    yield f"http://127.0.0.1:{server.port}/"
    server.stop()


def test_a_request_of_the_engine_is_a_connect_and_a_turn(storage: str) -> None:
    target = WebDavTarget(storage)
    found = trace(acts.operation(make_sessions, target, "list", "", 10**10), target.endpoint(), NEAR, 3)
    assert {(each.connects, each.turns) for each in found.sessions} == {(1, 1)}
    # less the round trip that connecting took, which a busy machine may draw out
    assert median(each.server for each in found.sessions) > 4.5 * MS
    assert found.line is not None
    assert (found.failed, found.beside, found.sessions[0].tls) == ((), 0, ())
    assert found.direct is not None and found.direct >= 5 * MS
    assert found.cost is not None and abs(found.cost) < 100 * MS


def test_a_command_is_traced(storage: str) -> None:
    require_program("curl", "apt-get install curl")
    port = int(storage.rsplit(":", 1)[1].strip("/"))
    words = ["curl", "--silent", "--noproxy", "*", "--output", "/dev/null", "http://{address}/"]
    found = trace(acts.command(words, 10**10), ("127.0.0.1", port), [0, 50 * MS], 2)
    assert {each.round_trips for each in found.sessions} == {2}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("closed port", "takes no connection"),
        ("closes", "before the answer: the server sent nothing"),
        ("silent", "no answer within 300 ms: the server sent nothing"),
    ],
)
def test_a_target_without_an_answer_is_named(kind: str, said: str) -> None:
    import socket
    import threading

    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
        if kind == "closed port":
            listening.close()
        kept = []

        def accept() -> None:
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    return
                if kind == "closes":
                    line.close()
                kept.append(line)

        if kind != "closed port":
            threading.Thread(target=accept, daemon=True).start()

        target = WebDavTarget(f"http://127.0.0.1:{port}/")
        with pytest.raises(TargetError) as raised:
            trace(acts.operation(make_sessions, target, "stat", "x", 300 * MS), ("127.0.0.1", port), [0, MS], 5)
        assert len(kept) <= 4, "two sessions are enough, of which a client may connect again"
        for line in kept:
            line.close()
    assert said in raised.value.what and raised.value.expected


def test_a_command_content_with_a_server_that_sends_nothing_is_not_counted() -> None:
    port, end = dialogue.serve(">", 0.0)
    try:
        with pytest.raises(TargetError, match="no session passed: the server sent nothing"):
            trace(dialogues(">"), ("127.0.0.1", port), [0, MS], 3)
    finally:
        end()


def test_an_unknown_name_and_a_command_beside_the_relay_are_named() -> None:
    act = acts.command(["true"], 10**10)
    with pytest.raises(TargetError, match="is not known"):
        trace(act, ("no-such-host.invalid", 80), [0], 1)
    with pytest.raises(TargetError, match="no connection came to the relay"):
        trace(act, ("127.0.0.1", 9), [0], 1)
    with pytest.raises(TargetError, match="cannot be started"):
        trace(acts.command(["/no/such/program"], 10**10), ("127.0.0.1", 9), [0], 1)
    with pytest.raises(TargetError, match="no end within 100 ms"):
        trace(acts.command(["sleep", "5"], 100 * MS), ("127.0.0.1", 9), [0], 1)
    with pytest.raises(TargetError, match="ended with code 1"):
        trace(acts.command(["false"], 10**10), ("127.0.0.1", 9), [0], 1)


LAUNCHED = """
pileup: 1
title: launched
targets: {se: {kind: practice-storage, launch: {}}}
tests: [{name: look, use: storage.list, target: se}]
"""


@pytest.mark.long
def test_what_a_killed_trace_has_launched_goes_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(LAUNCHED)
    made = tmp_path / "tmp"
    made.mkdir()
    command = [sys.executable, "-m", "pileup", "trace", "se", "--in", "suite.yaml", "--times", "1000"]
    variables = {**os.environ, "TMPDIR": str(made)}
    with subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while not (servers := psutil.Process(process.pid).children()) and time.monotonic() < until:
            time.sleep(0.02)
        process.kill()
    assert servers
    assert list(made.iterdir())
    assert leftovers.sweep()
    assert psutil.wait_procs(servers, timeout=10)[1] == []
    assert list(made.iterdir()) == []
