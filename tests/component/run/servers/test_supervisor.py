"""Launched servers: readiness of every kind, order, restart, pause, kill; what they said; and that none is left."""

import os
import pwd
import re
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from pileup.model.errors import TargetError
from pileup.plugin import Accepts, Answer, Daemon, Exists, File, Launcher, Line, Task
from pileup.record import RunFolder
from pileup.run.servers.processes import Identity
from pileup.run.servers.supervisor import Supervisor

READY = "import time; print('ready at http://127.0.0.1:1/', flush=True); time.sleep(60)"
CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session={own})
print("ready at", child.pid, flush=True)
time.sleep(60)
"""
DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready at x', flush=True); time.sleep(60)"
PORT = """
import socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready at", "http://127.0.0.1:" + sys.argv[1] + "/", flush=True)
time.sleep(60)
"""
TICKS = """
import sys, time
print("ready at x", flush=True)
while True:
    with open(sys.argv[1], "a") as file:
        file.write(".")
    time.sleep(0.01)
"""
URL = r"ready at (?P<url>\S+)"


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-ISc", code, *arguments)


def launcher(code: str, *arguments: str, within: float = 20) -> Launcher:
    return Launcher.one(python(code, *arguments), URL, int(within * 1e9))


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that must come, not for a time."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, "t", 0)


@pytest.fixture
def supervisor(folder: RunFolder) -> Iterator[Supervisor]:
    supervisor = Supervisor(folder)
    yield supervisor
    supervisor.end_all()


def states(folder: RunFolder, what: str = "server") -> list[str]:
    return [entry.state for entry in folder.journal_entries() if entry.what == what]


def test_a_server_is_ready_when_it_says_so_and_is_ended(
    supervisor: Supervisor, folder: RunFolder, tmp_path: Path
) -> None:
    assert supervisor.launch("se", launcher(READY), tmp_path / "se") == "http://127.0.0.1:1/"
    started = next(entry for entry in folder.journal_entries() if entry.state == "started")
    assert supervisor.pids("se") == [started.pid]
    assert Identity.of(started.pid) == Identity(started.pid, started.ticks, started.boot, started.namespace)
    assert os.getsid(started.pid) == started.pid
    supervisor.end_all()
    assert not runs(started.pid)
    assert states(folder) == ["begun", "started", "ended"]
    entries = list(folder.journal_entries())
    assert [entry.of for entry in entries] == [None, 1, 2]


@pytest.mark.parametrize("own", [False, True])
def test_children_of_a_server_go_with_it_even_from_a_session_of_their_own(
    supervisor: Supervisor, tmp_path: Path, own: bool
) -> None:
    child = int(supervisor.launch("se", launcher(CHILD.replace("{own}", str(own))), tmp_path / "se"))
    assert runs(child)
    supervisor.end_all()
    assert not runs(child)


def test_a_deaf_server_is_killed_after_its_grace(supervisor: Supervisor, tmp_path: Path) -> None:
    daemon = Daemon(python(DEAF), Line(URL), grace=10**8)
    supervisor.launch("se", Launcher((daemon,)), tmp_path / "se")
    (pid,) = supervisor.pids("se")
    supervisor.end_all()
    assert not runs(pid)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; print('no disk', file=sys.stderr); sys.exit(3)", "ended with code 3"),
        ("import sys; print('no disk', file=sys.stderr, flush=True); import time; time.sleep(60)", "still runs"),
    ],
)
def test_one_that_does_not_become_ready_is_quoted_and_not_left(
    supervisor: Supervisor, folder: RunFolder, tmp_path: Path, code: str, said: str
) -> None:
    with pytest.raises(TargetError, match="no disk") as problem:
        supervisor.launch("se", launcher(code, within=1.5), tmp_path / "se")
    assert said in str(problem.value)
    assert "a ready line within 1.5 s" in problem.value.expected
    assert states(folder)[-1] == "ended"


def test_a_missing_program_is_named(supervisor: Supervisor, folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="/no/such cannot be started"):
        supervisor.launch("se", Launcher.one(("/no/such",), "x"), tmp_path / "se")
    assert states(folder) == ["begun", "failed"]


def test_processes_start_in_order_each_awaited_and_end_in_reverse(
    supervisor: Supervisor, folder: RunFolder, tmp_path: Path
) -> None:
    wait = "import pathlib, sys, time; [pathlib.Path(each).touch() for each in sys.argv[1:]]; time.sleep(60)"
    needs = "import pathlib, sys; sys.exit(0 if pathlib.Path(sys.argv[1]).exists() else 'too early')"
    stack = Launcher(
        (
            Daemon(python(wait, "{folder}/key"), Exists("{folder}/key"), name="keys"),
            Task(python(needs, "{folder}/key"), name="check"),
            Daemon(python(wait, "{folder}/db"), Answer(python(needs, "{folder}/db")), name="db"),
            Daemon(python(PORT, "{port:db}"), Accepts("{port:db}"), name="control"),
        ),
        url="slurm://{host}:{port:db}/{user}",
    )
    url = supervisor.launch("site", stack, tmp_path / "site")
    assert re.fullmatch(rf"slurm://\w[\w-]*:{supervisor.port('site', 'db')}/\w+", url)
    assert supervisor.alive("site")
    assert len(supervisor.pids("site")) == 3
    supervisor.end("site")
    entries = list(folder.journal_entries())
    names = {entry.number: entry.process for entry in entries if entry.state == "started"}
    assert list(names.values()) == ["keys", "db", "control"]
    assert [names[entry.of] for entry in entries if entry.state == "ended"] == ["control", "db", "keys"]


def test_a_unix_socket_in_a_folder_with_a_short_path_that_is_removed(
    supervisor: Supervisor, folder: RunFolder, tmp_path: Path
) -> None:
    code = (
        "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); time.sleep(60)"
    )
    deep = tmp_path / ("long-name-" * 10)
    daemon = Daemon(python(code, "{short}/db.sock"), Accepts("{short}/db.sock"))
    url = supervisor.launch("db", Launcher((daemon,), url="{short}"), deep)
    assert Path(url, "db.sock").is_socket()
    supervisor.end_all()
    assert not Path(url).exists()
    assert states(folder, "scratch") == ["made", "removed"]


def test_a_failing_task_ends_what_was_started_before(supervisor: Supervisor, tmp_path: Path) -> None:
    task = Task(python("import sys; sys.exit('no database')"), name="make-db")
    stack = Launcher((Daemon(python(READY), Line(URL)), task, Daemon(("/no/such",), Line("x"))))
    with pytest.raises(TargetError, match=r"make-db .* ended with code 1 and said: no database"):
        supervisor.launch("se", stack, tmp_path / "se")
    assert supervisor.pids("se") == []


def test_files_are_written_with_their_modes_before_the_start(supervisor: Supervisor, tmp_path: Path) -> None:
    files = (
        File("etc/x.conf", "port = {port}\nfolder = {folder}\n", 0o640),
        File("key", b"{port}", 0o400, keep=True),
        File("spool", mode=0o711),
    )
    show = "import sys, time; print('ready at', open(sys.argv[1]).read().split()[2], flush=True); time.sleep(60)"
    one = Launcher((Daemon(python(show, "{folder}/etc/x.conf"), Line(URL)),), files=files)
    where = tmp_path / "se"
    assert supervisor.launch("se", one, where) == str(supervisor.port("se"))
    assert f"folder = {where}\n" in (where / "etc/x.conf").read_text()
    assert [oct((where / name).stat().st_mode & 0o777) for name in ("etc/x.conf", "key", "spool")] == [
        "0o640",
        "0o400",
        "0o711",
    ]
    assert (where / "key").read_bytes() == b"{port}"


def test_a_listening_socket_is_handed_over_as_systemd_does(supervisor: Supervisor, tmp_path: Path) -> None:
    code = """
import os, socket, time
assert os.environ["LISTEN_FDS"] == "1" and os.environ["LISTEN_PID"] == str(os.getpid())
listening = socket.socket(fileno=3)
print("ready at", "http://127.0.0.1:%d/" % listening.getsockname()[1], flush=True)
listening.accept()[0].sendall(b"hello")
time.sleep(60)
"""
    daemon = Daemon(python(code), Line(URL), listen=("main",))
    url = supervisor.launch("se", Launcher((daemon,)), tmp_path / "se")
    assert url == f"http://127.0.0.1:{supervisor.port('se')}/"
    with socket.create_connection(("127.0.0.1", supervisor.port("se"))) as connection:
        assert connection.recv(5) == b"hello"


def test_the_backlog_of_a_listening_socket_is_that_of_the_launcher_in_force(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    code = """
import socket, struct, time
told = socket.socket(fileno=3).getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
print("ready at", "http://backlog:%d/" % struct.unpack_from("I", told, 28), flush=True)  # tcpi_sacked
time.sleep(60)
"""
    told = [Launcher((Daemon(python(code), Line(URL), listen=("main",), backlog=number),)) for number in (16, 700)]
    assert supervisor.launch("se", told[0], tmp_path / "se") == "http://backlog:16/"
    assert supervisor.restart("se", told[1]) == "http://backlog:700/"


def test_a_restarted_server_keeps_its_port_and_its_log_grows(supervisor: Supervisor, tmp_path: Path) -> None:
    url = supervisor.launch("se", launcher(PORT, "{port}"), tmp_path / "se")
    before = supervisor.pids("se")
    assert supervisor.restart("se") == url
    assert supervisor.pids("se") != before
    assert not runs(before[0])
    assert (tmp_path / "se.logs/server.log").read_text().count("ready at") == 2


def test_a_restart_may_change_the_launcher(supervisor: Supervisor, tmp_path: Path) -> None:
    supervisor.launch("se", launcher(READY), tmp_path / "se")
    assert supervisor.restart("se", launcher(READY.replace(":1/", ":2/"))) == "http://127.0.0.1:2/"


def test_a_killed_server_stays_dead_until_it_is_restarted(supervisor: Supervisor, tmp_path: Path) -> None:
    url = supervisor.launch("se", launcher(PORT, "{port}"), tmp_path / "se")
    (pid,) = supervisor.pids("se")
    supervisor.kill("se")
    assert not runs(pid)
    assert not supervisor.alive("se")
    assert supervisor.restart("se") == url
    assert supervisor.alive("se")


def test_one_process_of_several_is_restarted_alone(supervisor: Supervisor, tmp_path: Path) -> None:
    stack = Launcher((Daemon(python(READY), Line(URL), name="a"), Daemon(python(READY), Line(URL), name="b")))
    supervisor.launch("se", stack, tmp_path / "se")
    before = {name: supervisor.pids(f"se.{name}") for name in "ab"}
    supervisor.restart("se.b")
    assert supervisor.pids("se.a") == before["a"]
    assert supervisor.pids("se.b") != before["b"]
    with pytest.raises(TargetError, match="no process 'c'; expected one of a, b"):
        supervisor.kill("se.c")


def test_a_paused_server_does_nothing_until_it_goes_on(
    supervisor: Supervisor, folder: RunFolder, tmp_path: Path
) -> None:
    ticks = tmp_path / "ticks"
    supervisor.launch("se", launcher(TICKS, str(ticks)), tmp_path / "se")
    until(ticks.exists)
    supervisor.pause("se")
    (pid,) = supervisor.pids("se")
    until(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    length = ticks.stat().st_size
    assert supervisor.paused("se")
    supervisor.go_on("se")
    until(lambda: ticks.stat().st_size > length)
    assert not supervisor.paused("se")
    assert states(folder, "pause") == ["begun", "ended"]


def test_a_paused_server_is_ended_in_order(supervisor: Supervisor, tmp_path: Path) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(15, lambda *_: (print('bye', flush=True), sys.exit(0)))\n"
        "print('ready at x', flush=True)\n"
        "time.sleep(60)"
    )
    supervisor.launch("se", launcher(code), tmp_path / "se")
    supervisor.pause("se")
    supervisor.end("se")
    assert "bye" in (tmp_path / "se.logs/server.log").read_text()


def test_a_command_before_the_end_and_one_that_fails_is_told(
    supervisor: Supervisor, folder: RunFolder, tmp_path: Path
) -> None:
    cancel = python("import pathlib, sys; pathlib.Path(sys.argv[1]).touch()", "{folder}/cancelled")
    fails = python("import sys; sys.exit('no jobs')")
    daemon = Daemon(python(READY), Line(URL), before_end=(cancel, fails))
    supervisor.launch("se", Launcher((daemon,)), tmp_path / "se")
    supervisor.end_all()
    assert (tmp_path / "se/cancelled").exists()
    assert "no jobs" in next(folder.events()).text


def test_one_that_ends_by_itself_is_told(supervisor: Supervisor, folder: RunFolder, tmp_path: Path) -> None:
    supervisor.launch("se", launcher("import sys; print('ready at x', flush=True); sys.exit(7)"), tmp_path / "se")
    until(lambda: not supervisor.alive("se"))
    supervisor.end_all()
    assert [event.text for event in folder.events()] == ["the server of target se ended by itself with code 7"]


def test_one_that_somebody_kills_is_told_once_and_at_once(
    supervisor: Supervisor, folder: RunFolder, tmp_path: Path
) -> None:
    first, second = (Daemon(python(READY), Line(URL), name=name) for name in ("first", "second"))
    supervisor.launch("se", Launcher((first, second)), tmp_path / "se")
    supervisor.notice()
    assert (supervisor.gone("se"), supervisor.gone("other"), list(folder.events())) == ("", "", [])
    os.kill(supervisor.pids("se.second")[0], signal.SIGKILL)
    until(lambda: not supervisor.alive("se"))
    said = "the second of target se was ended by SIGKILL, not by pileup"
    assert supervisor.gone("se") == said
    for _ in range(2):
        supervisor.notice()
        assert [event.text for event in folder.events()] == [said]
    supervisor.restart("se.second")
    assert supervisor.gone("se") == ""
    supervisor.kill("se.second")
    supervisor.notice()
    supervisor.end_all()
    assert [event.text for event in folder.events()] == [said], "what pileup ends is not told"


def test_what_is_not_launched_is_refused_with_three_parts(supervisor: Supervisor) -> None:
    with pytest.raises(TargetError, match="target se has no server of pileup's; expected a target of the suite"):
        supervisor.restart("se")


def test_without_a_run_nothing_is_noted(tmp_path: Path) -> None:
    supervisor = Supervisor()
    assert supervisor.launch("se", launcher(READY), tmp_path / "se")
    (pid,) = supervisor.pids("se")
    supervisor.end_all()
    assert not runs(pid)
    assert sorted(path.name for path in (tmp_path / "se.logs").iterdir()) == ["server.log"]


def test_the_port_of_a_later_process_is_taken_from_the_beginning(supervisor: Supervisor, tmp_path: Path) -> None:
    knock = """
import socket, sys, time
socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
print("ready at x", flush=True)
time.sleep(60)
"""
    accept = (
        "import socket; socket.socket(fileno=3).accept(); print('ready at y', flush=True); import time; time.sleep(60)"
    )
    first = Daemon((*python(knock), "{port:late}"), Line(URL), name="first")
    second = Daemon(python(accept), Line(URL), name="second", listen=("late",))
    assert supervisor.launch("se", Launcher((first, second)), tmp_path / "se") == "y"
    assert supervisor.restart("se") == "y"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run a server as another user")
def test_one_process_may_be_run_as_pileup_itself(supervisor: Supervisor, tmp_path: Path) -> None:
    shell = ("/bin/sh", "-c", "echo ready at $(id -u); exec sleep 60")
    processes = (Daemon(shell, Line(URL), name="theirs"), Daemon(shell, Line(URL), name="ours", as_pileup=True))
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o755)
        assert supervisor.launch("se", Launcher(processes, user="nobody"), Path(base) / "se") == "0"
        log = Path(base) / "se.logs" / "theirs.log"
        assert log.read_text() == f"ready at {pwd.getpwnam('nobody').pw_uid}\n"
        supervisor.end_all()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may run a server as another user")
def test_a_server_of_another_user_owns_its_folders(supervisor: Supervisor, tmp_path: Path) -> None:
    shell = ("/bin/sh", "-c", "touch mine; echo ready at $(id -u); exec sleep 60")
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o755)
        files = (File("etc/x.conf", "{user}"), File("spool"))
        stack = Launcher((Daemon(shell, Line(URL)),), files=files, user="nobody")
        folder = Path(base) / "se"
        nobody = pwd.getpwnam("nobody").pw_uid
        assert supervisor.launch("se", stack, folder) == str(nobody)
        assert {path.stat().st_uid for path in (folder, folder / "mine", folder / "spool", folder / "etc/x.conf")} == {
            nobody
        }
        assert (folder / "etc/x.conf").read_text() == "nobody"
        supervisor.end_all()
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "closed" / "program").write_text("#!/bin/sh\n")
    (tmp_path / "closed" / "program").chmod(0o755)
    closed = Launcher((Daemon((str(tmp_path / "closed" / "program"),), Line(URL)),), user="nobody")
    with pytest.raises(TargetError, match="it is run as user nobody, who must be able to reach it"):
        supervisor.launch("closed", closed, tmp_path / "se")


def test_one_that_cannot_be_ended_does_not_keep_the_others(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        supervisor.launch(name, launcher(READY), tmp_path / name)
    (first,) = supervisor.pids("a")
    server = supervisor._servers["b"]
    end = server.end

    def fails() -> None:
        end()
        raise OSError("no")

    monkeypatch.setattr(server, "end", fails)
    with pytest.raises(OSError, match="no"):
        supervisor.end_all()
    assert not runs(first)
