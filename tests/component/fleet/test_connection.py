"""The process at the other end: ended with what it has started, and nobody else."""

import os
import signal
import time
from pathlib import Path

import pytest

from pileup._core._native import VERSION
from pileup.fleet import connection as module
from pileup.fleet.connection import Connection, NoPileup
from pileup.fleet.launch import Start
from pileup.fleet.wire import HELLO, PROTOCOL, encode
from pileup.model.errors import TargetError


def runs(pid: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


def test_s12_a_group_is_killed_only_while_its_number_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = []

    def kill(number: int, signal: int, killpg=os.killpg) -> None:
        states.append(Path(f"/proc/{number}/stat").exists())
        killpg(number, signal)

    monkeypatch.setattr(os, "killpg", kill)
    command = f"sleep 60 >&- 2>&- <&- & echo $! > {tmp_path}/child; exit 3"
    connection = Connection(Start("near", ("sh", "-c", command), False, "python3"))
    with pytest.raises(TargetError, match="it ended with code 3"):
        connection.greet(10)
    assert connection.ended.wait(10)
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 5
    while runs(child):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert states
    assert all(states), "nobody had waited for the leader"
    before = len(states)
    connection.lose("again")
    connection.close()
    assert len(states) == before


@pytest.mark.parametrize(
    ("far", "command", "kind"),
    [
        (True, "echo no such program >&2; exit 127", NoPileup),
        (True, "echo no module >&2; exit 1", NoPileup),
        (True, "cat hello; exec sleep 60", NoPileup),
        (True, "echo no route >&2; exit 255", TargetError),
        (True, "kill -9 $$", TargetError),
        (True, "exec sleep 60", TargetError),
        (False, "exit 1", TargetError),
    ],
)
def test_a_host_without_pileup_is_told_from_one_that_is_not_reached(
    tmp_path: Path, far: bool, command: str, kind: type[TargetError]
) -> None:
    hello = encode("hello", {"version": "0.0.1", "protocol": 1, "host": "there"})
    (tmp_path / "hello").write_bytes(HELLO + hello)
    connection = Connection(Start("there", ("sh", "-c", f"cd {tmp_path}; {command}"), far, "python3"))
    with pytest.raises(TargetError) as problem:
        connection.greet(1.5)
    assert type(problem.value) is kind
    connection.close()


def killed(tmp_path: Path, lost: list[str]) -> Connection:
    """Return the connection to a place that was killed and whose child keeps its pipe open; a message did not go."""
    hello = encode("hello", {"version": VERSION, "protocol": PROTOCOL, "host": "there"})
    (tmp_path / "hello").write_bytes(HELLO + hello)
    command = f"cd {tmp_path}; cat hello; sleep 60 & echo $$ >me; exec cat >taken"
    connection = Connection(Start("near", ("sh", "-c", command), False, "python3"), gone=lost.append)
    connection.greet(10)
    deadline = time.monotonic() + 10
    while not (tmp_path / "taken").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(int((tmp_path / "me").read_text()), signal.SIGKILL)
    while connection.send("ping"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return connection


def test_a_killed_place_is_told_from_one_that_closed_its_pipe_though_a_child_keeps_that_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNTIL_WHY", 0.2)
    lost: list[str] = []
    connection = killed(tmp_path, lost)
    assert connection.ended.wait(10)
    assert lost == [connection.lost] == ["it ended by SIGKILL"]
    connection.close()


def test_who_sends_to_a_killed_place_does_not_wait_until_it_is_known_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "UNTIL_WHY", 60)
    lost: list[str] = []
    connection = killed(tmp_path, lost)  # it returns within its ten seconds
    assert not connection.send("ping")
    assert (connection.lost, lost) == ("", [])
    connection.lose("the test is over")
