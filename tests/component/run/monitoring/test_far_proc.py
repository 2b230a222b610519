"""The /proc of another host through its shell: what the files here say, whichever shell; nonsense is an error."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from pileup.builtin.monitors.node import Node
from pileup.builtin.monitors.process import Process
from pileup.model.errors import TargetError
from pileup.plugin.proc import LOCAL
from pileup.run.monitoring import far_proc, shell
from pileup.run.monitoring.far_proc import FarProc
from tests.support import require_program

SHELLS = {"dash": "dash", "bash": "bash", "bash as sh": "bash --posix", "busybox": "busybox sh"}
WORDS = """
import sys
open("/proc/self/comm", "w").write("a) S 1\\nhid 1 (b")
print("up", flush=True)
sys.stdin.read()
"""
PORT = "port_queue"
"""Ports of other programs come and go between two looks."""
BURN = "import time\nend = time.monotonic() + 30\nwhile time.monotonic() < end: time.process_time()"


def far_end(folder: Path, does: str) -> str:
    """Return a command in the place of ssh: `does` has what it was to run there as $last."""
    path = folder / "ssh"
    path.write_text(f"#!/bin/sh\nfor last; do :; done\n{does}\n")
    path.chmod(0o755)
    return str(path)


def by_shell(folder: Path, name: str) -> str:
    return far_end(folder, f'exec /bin/sh -c "exec {name} ${{last#exec /bin/sh }}"')


@contextmanager
def program(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run Python with these words until the end."""
    with subprocess.Popen([sys.executable, "-c", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def opened(ssh: str, tell: Callable[[str], None] = lambda text: None) -> Iterator[FarProc]:
    proc = FarProc("me@there", ssh, tell)
    try:
        proc.open()
        yield proc
    finally:
        proc.close()


def alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.parametrize("name", SHELLS)
def test_any_shell_says_what_the_files_here_say(tmp_path: Path, name: str) -> None:
    program_of = SHELLS[name].split()[0]
    require_program(program_of, f"apt-get install {program_of}")
    with program(WORDS, "one two", "", "a\nb") as odd, opened(by_shell(tmp_path, SHELLS[name])) as proc:
        assert odd.stdout is not None
        odd.stdout.readline()
        assert (proc.name, proc.ticks, proc.page) == (socket.gethostname(), LOCAL.ticks, LOCAL.page)
        near, far = LOCAL.machine(), proc.machine()
        assert far.devices == near.devices
        assert abs(far.processes - near.processes) < 30
        names = ("sys/kernel/hostname", "no/such/file", "version", "stat")
        texts = proc.texts(names)
        assert abs(texts.moment - time.monotonic()) < 2
        assert set(texts.files) == set(names) - {"no/such/file"}
        assert texts.files["version"] == Path("/proc/version").read_bytes()
        (shell_pid,) = proc.own
        for seen in (proc.stats(), proc.stats([os.getpid(), odd.pid, shell_pid, 1 << 22])):
            here = LOCAL.stats([os.getpid(), odd.pid])
            assert shell_pid not in seen.lines
            assert b"(a) S 1\nhid 1 (b)" in seen.lines[odd.pid]
            assert abs(seen.boot - here.boot) <= LOCAL.ticks
            for pid, line in here.lines.items():
                kept = [words.rpartition(b")")[2].split() for words in (line, seen.lines[pid])]
                assert kept[0][1] == kept[1][1]
                assert kept[0][19] == kept[1][19]
        assert len(proc.stats([odd.pid]).lines) == 1
        lines = proc.command_lines([odd.pid, os.getpid(), 1 << 22])
        assert lines[odd.pid] == LOCAL.command_lines([odd.pid])[odd.pid]
        assert (lines[odd.pid] or b"").endswith(b"one two\0\0a\nb\0")
        assert not lines[1 << 22]
        assert proc.open_files([odd.pid, 1 << 22]) == LOCAL.open_files([odd.pid])
        assert proc.texts([]).files == {}
        assert proc.command_lines([]) == proc.open_files([]) == proc.stats([]).lines == {}
        assert alive(shell_pid)
    assert not alive(shell_pid)


def test_monitors_measure_the_same_through_it(tmp_path: Path) -> None:
    with program(BURN, "hamster-9911") as burning, opened(by_shell(tmp_path, "/bin/sh")) as proc:
        choices: tuple[dict[str, object], ...] = (
            *({"match": "hamster-9911"}, {"pid": burning.pid}),
            {"program": psutil.Process(burning.pid).name(), "match": "hamster-9911$"},
        )
        near, far = ([Process(**words) for words in choices] for _ in range(2))
        nodes = (Node(each=True), Node(each=True))
        for monitor in (*far, nodes[1]):
            monitor.proc = proc
        for monitor in (*near, *far, *nodes):
            monitor.open()
        time.sleep(0.7)
        for one, other in zip((*near, nodes[0]), (*far, nodes[1]), strict=True):
            here, there = (
                {(each.metric, each.labels, each.unit): each.value for each in monitor.sample() if each.metric != PORT}
                for monitor in (one, other)
            )
            assert here.keys() == there.keys()
            for key, value in here.items():
                if key[0] in {"number", "open_files", "threads", "rss"} or key[:2] == ("memory", "kind=total"):
                    assert there[key] == pytest.approx(value, rel=0.02), key
            if ("cpu", "of=all", "%") in here:
                assert here["number", "", ""] == 1
                assert here["cpu", "of=all", "%"] > 5
                used = here["cpu", "of=all", "%"]
                assert there["cpu", "of=all", "%"] == pytest.approx(used, rel=0.25)
        everything = Process(match=".", children=False)
        everything.proc = proc
        found = {each.metric: each.value for each in everything.sample()}
        assert abs(found["number"] - LOCAL.machine().processes) < 30


def test_what_a_user_may_not_look_into_is_told(tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user")
    ssh = far_end(tmp_path, 'exec setpriv --reuid 65534 --regid 65534 --clear-groups /bin/sh -c "$last"')
    with opened(ssh) as proc:
        assert proc.open_files([os.getpid()]) == {os.getpid(): None}
        monitor = Process(pid=os.getpid(), children=False)
        monitor.proc = proc
        found = {each.metric: each.value for each in monitor.sample()}
    assert (found["number"], found["not_permitted"]) == (1, 1)
    assert "open_files" not in found


def test_what_a_login_shell_prints_is_no_answer(tmp_path: Path) -> None:
    noise = "echo 'Welcome begin 12 end'; head -c 200000 /dev/zero; echo warning >&2"
    with opened(far_end(tmp_path, f'{noise}; exec /bin/sh -c "$last"')) as proc:
        assert proc.name == socket.gethostname()


ANSWERS = 'while read -r mark what names; do echo; echo "$mark begin {pid}"; {answer}; echo; echo "$mark end"; done'
TRUE = 'if [ "$what" != {but} ]; then env -i "A=$mark" PATH=/bin "Z=$mark" cat $names; else {answer}; fi'


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("echo no such shell >&2; exit 127", "the connection ended and said: no such shell"),
        ("exit 0", "the connection ended"),
        ("exec cat /dev/zero", "sent more than 1 MiB"),
        ("exec 3>&1; exec cat /dev/zero >&2", "did not answer within 2 s"),
        ("exec sleep 60", "did not answer within 2 s"),
        (ANSWERS.format(pid="12; x", answer=":"), "expected the number of its shell"),
        (ANSWERS.format(pid="12", answer=":"), "expected 2 files"),
        (ANSWERS.format(pid="12", answer="cat $names"), "expected 2 files"),
        (ANSWERS.format(pid="12", answer="cat /dev/zero"), "sent more than 1 MiB"),
        (
            ANSWERS.format(pid="12", answer='printf "x%b" "A=$mark\\0PATH=\\0Z=$mark\\0A=$mark\\0PATH=\\0Z=$mark\\0"'),
            "expected the size of a page",
        ),
    ],
)
def test_a_far_side_that_is_broken_or_hostile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, told: str
) -> None:
    monkeypatch.setattr(shell, "MOST", 1 << 20)
    monkeypatch.setattr(shell, "WITHIN", 2.0)
    with pytest.raises(TargetError) as problem, opened(far_end(tmp_path, does)):
        pass
    assert told in str(problem.value)
    assert len(str(problem.value)) < 5000


@pytest.mark.parametrize(
    ("verb", "ask", "answer"),
    [
        ("stats", lambda proc: proc.stats(), "echo '1 (a) S 1'"),
        ("stats", lambda proc: proc.stats(), "echo hidden 12"),
        ("stats", lambda proc: proc.stats(), "head -c 3000 /dev/zero | tr '\\0' 9"),
        ("machine", lambda proc: proc.machine(), "echo many"),
        ("files", lambda proc: proc.open_files([12]), "echo 12 many"),
        ("files", lambda proc: proc.open_files([12]), "echo 13 7"),
    ],
)
def test_an_answer_that_is_none_ends_the_connection(
    tmp_path: Path, verb: str, ask: Callable[[FarProc], object], answer: str
) -> None:
    noted: list[str] = []
    does = "cd /proc\n" + ANSWERS.format(pid="12", answer=TRUE.format(but=verb, answer=answer))
    with opened(far_end(tmp_path, does), noted.append) as proc:
        with pytest.raises(TargetError, match=r"host me@there answers .*; expected .* \(is it Linux"):
            ask(proc)
        assert len(noted) == 1
        with pytest.raises(TargetError):  # it is not asked again at once
            ask(proc)
        assert len(noted) == 1


def test_a_connection_that_breaks_is_made_anew_in_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    count = tmp_path / "count"
    with opened(far_end(tmp_path, f'echo >>{count}; exec /bin/sh -c "$last"'), noted.append) as proc:
        monkeypatch.setattr(far_proc, "AGAIN", 0.5)
        proc._next = 0.0
        (first,) = proc.own
        os.kill(first, 9)
        for _ in range(20):
            with pytest.raises(TargetError, match="the connection ended"):
                proc.machine()
            proc._next = time.monotonic() + 60
        assert len(count.read_text()) == 1, "twenty requests, no connection"
        proc._next = 0.0
        assert proc.machine().processes > 1
        assert proc.own != {first}
        assert len(count.read_text()) == 2
    assert noted == ["host me@there: the connection ended", "host me@there is back"]


def test_what_is_no_host_starts_nothing() -> None:
    with pytest.raises(TargetError, match="is not a host"):
        FarProc("-oProxyCommand=touch /tmp/x", "ssh").open()
