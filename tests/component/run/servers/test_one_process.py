"""Servers of several processes: one of them restarted, killed, limited, without the others; and what they leave."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from pileup.model.errors import TargetError
from pileup.plugin import Answer, Daemon, Exists, File, Launcher, Line, Task
from pileup.record import RunFolder
from pileup.run.servers import processes
from pileup.run.servers.processes import MARK
from pileup.run.servers.supervisor import Supervisor
from tests.component.run.servers.test_supervisor import READY, URL, python, runs, until

NOTE = "import pathlib, sys; file = pathlib.Path(sys.argv[1]); file.open('a').write(sys.argv[2])"
HOLDS = """
import os, pathlib, sys, time
kept = []
print("ready at x", flush=True)
while True:
    try:
        kept.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        [os.close(each) for each in kept]
        pathlib.Path(sys.argv[1]).write_text(str(len(kept)))
        kept = []
    time.sleep(0.0005)
"""
# As slurmstepd: in a session of its own, reparented, its environment written over but for its end; and it has a job
# that knows nothing of the mark.
STEP = """
import ctypes, os, subprocess, sys, time
if os.fork():
    os._exit(0)
os.setsid()
job = subprocess.Popen(["sleep", "60"], env={})
words = open("/proc/self/stat").read().rsplit(")", 1)[1].split()
begin, end = int(words[47]), int(words[48])
kept = open("/proc/self/environ", "rb").read()
kept = kept[kept.index(b"SLURM_CONF"):]
ctypes.memset(begin, 0, end - begin - len(kept))
os.rename(sys.argv[1], sys.argv[1] + ".there")
time.sleep(60)
"""
PARENT = """
import subprocess, sys, time
subprocess.run([sys.executable, "-ISc", sys.argv[1], sys.argv[2]])
print("ready at x", flush=True)
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, "t", 0)


@pytest.fixture
def supervisor(folder: RunFolder) -> Iterator[Supervisor]:
    supervisor = Supervisor(folder)
    yield supervisor
    supervisor.end_all()


@pytest.fixture
def stack(tmp_path: Path) -> Launcher:
    """Three daemons, with tasks between that note when they are done."""

    def task(name: str, again: bool = True) -> Task:
        return Task(python(NOTE, str(tmp_path / "notes"), name), name=f"note-{name}", again=again)

    def daemon(name: str) -> Daemon:
        return Daemon(python(READY), Line(URL), name=name)

    steps = (task("1"), daemon("a"), task("2", again=False), task("3"), daemon("b"), task("4"), daemon("c"), task("5"))
    return Launcher(steps, files=(File("conf", "{again}", 0o600),))


def pids(supervisor: Supervisor) -> dict[str, list[int]]:
    return {name: supervisor.pids(f"ce.{name}") for name in "abc"}


def test_one_is_restarted_with_the_tasks_right_before_it_and_no_files(
    supervisor: Supervisor, stack: Launcher, tmp_path: Path
) -> None:
    supervisor.launch("ce", stack, tmp_path / "ce")
    before = pids(supervisor)
    (tmp_path / "ce/conf").write_text("as the others use it")
    supervisor.restart("ce.b")
    after = pids(supervisor)
    assert (after["a"], after["c"]) == (before["a"], before["c"])
    assert after["b"] != before["b"]
    assert (tmp_path / "notes").read_text() == "12345" + "3"
    assert (tmp_path / "ce/conf").read_text() == "as the others use it"
    supervisor.restart("ce")
    assert (tmp_path / "notes").read_text() == "123453" + "1345"
    assert (tmp_path / "ce/conf").read_text() == "-3"


def test_a_restart_of_one_leaves_another_dead_one_dead(
    supervisor: Supervisor, stack: Launcher, folder: RunFolder, tmp_path: Path
) -> None:
    supervisor.launch("ce", stack, tmp_path / "ce")
    supervisor.kill("ce.a")
    supervisor.kill("ce.c")
    assert not supervisor.alive("ce.a")
    supervisor.restart("ce.c")
    assert (supervisor.pids("ce.a"), len(supervisor.pids("ce.c"))) == ([], 1)
    supervisor.restart("ce.a")
    assert supervisor.alive("ce")
    entries = list(folder.journal_entries())
    started = [entry.process for entry in entries if entry.state == "started"]
    assert started == ["a", "b", "c", "c", "a"]
    supervisor.end("ce")
    names = {entry.number: entry.process for entry in folder.journal_entries() if entry.state == "started"}
    ended = [names[entry.of] for entry in folder.journal_entries() if entry.state == "ended"]
    assert ended == ["a", "c", "c", "b", "a"], "those killed first, then all in reverse order of the launcher"


def test_one_is_not_ready_until_it_says_so(supervisor: Supervisor, tmp_path: Path) -> None:
    slow = "import pathlib, sys, time; time.sleep(0.3); pathlib.Path(sys.argv[1]).touch(); time.sleep(60)"
    there = tmp_path / "there"
    stack = Launcher(
        (
            Daemon(python(READY), Line(URL), name="a"),
            Daemon(python(slow, str(there)), Exists(str(there)), name="b"),
        )
    )
    supervisor.launch("ce", stack, tmp_path / "ce")
    there.unlink()
    supervisor.restart("ce.b")
    assert there.exists()


@pytest.mark.long
def test_open_files_are_limited_for_a_time(supervisor: Supervisor, tmp_path: Path) -> None:
    told = tmp_path / "told"
    daemons = (Daemon(python(HOLDS, str(told)), Line(URL), name="a"), Daemon(python(READY), Line(URL), name="b"))
    supervisor.launch("ce", Launcher(daemons), tmp_path / "ce")
    one, other = (psutil.Process(supervisor.pids(f"ce.{name}")[0]) for name in "ab")
    before = one.rlimit(psutil.RLIMIT_NOFILE)
    limits = supervisor.limit("ce.a", 20)
    assert one.rlimit(psutil.RLIMIT_NOFILE) == (20, before[1])
    assert other.rlimit(psutil.RLIMIT_NOFILE) == before
    until(lambda: told.exists() and told.read_text() != "" and int(told.read_text()) < 20)
    limits.lift()
    assert one.rlimit(psutil.RLIMIT_NOFILE) == before
    until(lambda: int(told.read_text() or 0) > 20)


def test_what_began_under_a_limit_is_freed_of_it_too(supervisor: Supervisor, tmp_path: Path) -> None:
    go = (
        "import time, subprocess, sys, pathlib\nprint('ready at x', flush=True)\nwhile not pathlib.Path(sys.argv[1])"
        ".exists(): time.sleep(0.01)\nsubprocess.run(['sleep', '60'])"
    )
    supervisor.launch("ce", Launcher((Daemon(python(go, str(tmp_path / "go")), Line(URL)),)), tmp_path / "ce")
    leader = psutil.Process(supervisor.pids("ce")[0])
    before = leader.rlimit(psutil.RLIMIT_NOFILE)
    limits = supervisor.limit("ce", 64)
    (tmp_path / "go").touch()
    until(lambda: [each.name() for each in leader.children()] == ["sleep"])
    (child,) = leader.children()
    assert child.rlimit(psutil.RLIMIT_NOFILE)[0] == 64
    limits.lift()
    assert leader.rlimit(psutil.RLIMIT_NOFILE) == child.rlimit(psutil.RLIMIT_NOFILE) == before


def steps_of(mark: str) -> Callable[[], list[str]]:
    return lambda: sorted(each.name() for each in processes.with_children(processes.marked(mark)))


def test_a_step_that_wrote_over_its_environment_goes_with_its_job(supervisor: Supervisor, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    daemon = Daemon(
        python(PARENT, STEP, str(flag)), Line(URL), environment={"SLURM_CONF": "/x", MARK: "of an outer run"}
    )
    supervisor.launch("ce", Launcher((daemon,)), tmp_path / "ce")
    until(Path(f"{flag}.there").exists)
    step = next(each for each in psutil.process_iter() if str(flag) in " ".join(_line(each)) and each.ppid() == 1)
    left = Path(f"/proc/{step.pid}/environ").read_bytes().strip(b"\0").split(b"\0")
    assert [each.partition(b"=")[0] for each in left] == [b"SLURM_CONF", MARK.encode()]
    (job,) = step.children()
    supervisor.kill("ce")
    assert runs(step.pid), "it outlives its daemon, as it should"
    assert runs(job.pid)
    supervisor.end("ce")
    assert not runs(step.pid)
    assert not runs(job.pid)


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_the_next_start_ends_such_a_step_too(folder: RunFolder, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    mark = f"mark-{os.getpid()}-step"
    environment = processes.with_mark({**os.environ, "SLURM_CONF": "/x"}, mark)
    subprocess.run([sys.executable, "-ISc", STEP, str(flag)], env=environment, check=True)
    until(Path(f"{flag}.there").exists)
    left = processes.with_children(processes.marked(mark))
    assert len(left) == 2
    processes.kill_marked(mark)
    assert not any(runs(each.pid) for each in left)


@pytest.mark.skipif(os.geteuid() != 0, reason="servers run as another user only where pileup is root")
def test_a_server_of_another_user_is_limited_too(supervisor: Supervisor, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    sleeps = Launcher((Daemon(("sleep", "60"), Answer(("true",))),), "x", user="nobody")
    supervisor.launch("ce", sleeps, tmp_path / "ce")
    (pid,) = supervisor.pids("ce")
    before = Path(f"/proc/{pid}/limits").read_text()
    limits = supervisor.limit("ce", 17)
    now = next(line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if "open files" in line)
    assert now.split()[3] == "17"
    limits.lift()
    assert Path(f"/proc/{pid}/limits").read_text() == before


def test_nothing_is_limited_of_what_is_not_there(supervisor: Supervisor) -> None:
    with pytest.raises(TargetError, match="no server of pileup's"):
        supervisor.limit("nobody", 10)
