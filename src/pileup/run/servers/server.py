"""One server: its processes started, awaited and ended, with an entry in the journal before and after."""

from __future__ import annotations

import pwd
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psutil

from pileup.fleet import child_cpu
from pileup.model.child_environment import handed_on
from pileup.model.errors import PileupError, RecordError, TargetError
from pileup.plugin import Daemon, Launcher, Task
from pileup.run.servers import commands, disks, processes
from pileup.run.servers.file_limits import FileLimits
from pileup.run.servers.placeholders import PlaceholderValues
from pileup.run.servers.processes import MARK, Identity
from pileup.run.servers.readiness import Log, await_ready

if TYPE_CHECKING:
    from pileup.run.servers.supervisor import Journal

HAND_OVER = """
import os, sys
sockets = [int(word) for word in sys.argv[1].split(",")]
kept = [os.dup(each) for each in sockets]
for each in sockets:
    os.set_inheritable(each, False)
for number, each in enumerate(kept):
    os.dup2(each, 3 + number)
    os.set_inheritable(3 + number, True)
os.environ.update(LISTEN_FDS=str(len(kept)), LISTEN_PID=str(os.getpid()))
if sys.argv[2]:
    user, group = sys.argv[2].split(":")
    os.setgroups([])
    os.setgid(int(group))
    os.setuid(int(user))
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Gives listening sockets the numbers that a program looks for, then becomes the program: systemd's protocol.

It becomes the server's user itself, who need not be able to reach this Python.
"""


@dataclass(slots=True)
class Process:
    """One started process."""

    daemon: Daemon
    popen: subprocess.Popen[bytes]
    identity: Identity
    entry: int
    """Number of its entry in the journal."""
    pause: int | None = None
    """Number of the entry that says it is paused; None while it is not."""
    told: bool = False
    """Whether the record says that it has ended by itself."""

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return child_cpu.poll(self.popen) is None

    @property
    def signal(self) -> int:
        """Number of the signal that asks it to end."""
        return int(getattr(signal, f"SIG{self.daemon.stop}"))


class Server:
    """The processes of one target."""

    def __init__(
        self, name: str, launcher: Launcher, folder: Path, journal: Journal, disk: int = 0, *, whose: str = ""
    ) -> None:
        self.name = name
        self._whose = whose or f"of target {name}"
        self.url = ""
        self.credentials: dict[str, str] = {}
        self.filling = PlaceholderValues(folder, launcher.user, journal.nonce)
        self.logs = folder.with_name(f"{folder.name}.logs")
        """Folder of the output of its processes: not `folder`, where a service user could replace a file by a link."""
        self._launcher = launcher
        self._journal = journal
        self._mark = uuid4().hex
        self._running: list[Process] = []
        self._lock = threading.RLock()
        self._short: int | None = None
        self._held: dict[str, socket.socket] = {}
        """Listening sockets of processes that are still to be started: among many, a port is free for minutes."""
        self.disk: Path | None = None
        """Where its small disk is mounted, if it has one."""
        self._size = disk
        self._disk_entry = 0

    def names(self) -> list[str]:
        """Return the names of the processes that stay."""
        return [each.name for each in self._launcher.processes if isinstance(each, Daemon)]

    def environment(self, process: str) -> dict[str, str]:
        """Return the variables that the process of that name gets, or all processes for an empty name."""
        meant = [each for each in self._launcher.processes if isinstance(each, Daemon) and process in ("", each.name)]
        return {name: value for each in meant for name, value in self.filling.environment(each.environment).items()}

    def chosen(self, process: str) -> list[Process]:
        """Return the started process of that name, or all for an empty name."""
        return [each for each in list(self._running) if process in ("", each.daemon.name)]

    def start(self) -> str:
        """Start all, in order; return the url. Raises TargetError, with everything ended again."""
        with self._lock:
            try:
                self._start(again=False)
            except BaseException:
                self.end()
                raise
            return self.url

    def restart(self, process: str, launcher: Launcher | None) -> str:
        """End the chosen processes, each by its signal, and start them again; return the url.

        If only one process is restarted, the files of the others stay as they are, and other dead ones are not started.
        """
        with self._lock:
            for each in reversed(self.chosen(process)):
                self._end(each, each.signal)
                self._hold(each.daemon)
            self._launcher = launcher or self._launcher
            self._start(again=True, only=process)
            return self.url

    def kill(self, process: str, number: int) -> None:
        """End what is meant by a signal."""
        with self._lock:
            for each in reversed(self.chosen(process)):
                self._end(each, number)

    def pause(self, process: str) -> None:
        """Stop the sessions of what is meant."""
        with self._lock:
            for each in self.chosen(process):
                if each.pause is None:
                    about = {"target": self.name, "process": each.daemon.name, **self._known(each.identity)}
                    each.pause = self._journal.journal("pause", "begun", **about)
                each.popen.send_signal(signal.SIGSTOP)  # at once: finding the others takes a while
                processes.send(processes.session(each.identity, self._mark), signal.SIGSTOP)

    def go_on(self, process: str) -> None:
        """Continue the sessions of what is meant."""
        with self._lock:
            for each in self.chosen(process):
                each.popen.send_signal(signal.SIGCONT)
                processes.send(processes.session(each.identity, self._mark), signal.SIGCONT)
                self._close_pause(each)

    def paused(self, process: str) -> bool:
        """Whether something of what is meant is paused."""
        return any(each.pause is not None for each in self.chosen(process))

    def limit(self, process: str, files: int) -> FileLimits:
        """Let the sessions of what is meant have so many files open at most, until that is lifted."""

        def members() -> list[psutil.Process]:
            chosen = self.chosen(process)
            return [member for each in chosen for member in processes.session(each.identity, self._mark)]

        return FileLimits(members, files)

    def gone(self) -> str:
        """Return which of its processes have ended by themselves, in words; empty when none has."""
        return "; ".join(self._told_gone(each) for each in list(self._running) if not each.alive)

    def notice(self) -> None:
        """Note in the record, once, what has ended by itself; not while something is started or ended on purpose."""
        if self._lock.acquire(blocking=False):
            try:
                for each in self._running:
                    self._note_gone(each)
            finally:
                self._lock.release()

    def end(self) -> None:
        """End all in reverse order, then what they have left in sessions of their own."""
        with self._lock:
            for each in list(self._running):
                processes.send(processes.session(each.identity, self._mark), signal.SIGCONT)
            for each in reversed(list(self._running)):
                self._prepare_end(each)
                self._end(each, each.signal)
            processes.kill_marked(self._mark)
            self._take_disk_away()
            self.filling.remove()
            if self._short is not None:
                self._close("scratch", "removed", self._short)
                self._short = None

    def _start(self, again: bool, only: str = "") -> None:
        """Start what does not run, in order: all, or one process alone."""
        self.filling.starts += 1
        self._mount_disk()
        self.logs.mkdir(parents=True, exist_ok=True)
        steps = list(self._steps(again, only))
        try:
            for each in steps:
                self._hold(each)
            if not only:
                self.filling.write(self._launcher.files)
            for each in steps:
                if isinstance(each, Task):
                    self._do(each)
                else:
                    self.url = self._start_one(each) or self.url
        finally:
            self._let_go()
        self.url = self.filling.fill(self._launcher.url) or self.url
        self.credentials = self.filling.environment(self._launcher.credentials)
        if not self.url:
            self.end()
            raise TargetError(
                f"target {self.name}: its server did not report its url", "a ready line with a group `url`"
            )

    def _steps(self, again: bool, only: str) -> Iterator[Daemon | Task]:
        """Yield what is to be done; of one process those tasks that come right before it."""
        running = {each.daemon.name for each in self._running}
        before: list[Task] = []
        for each in self._launcher.processes:
            if isinstance(each, Task):
                before += [each] if each.again or not again else []
                continue
            meant, dead = only in ("", each.name), each.name not in running
            if meant and (dead or not only):
                yield from before
            if meant and dead:
                yield each
            before = []
        if not only:
            yield from before

    def _mount_disk(self) -> None:
        """Put a small disk on the launcher's folder, where one is wanted and is not there yet."""
        if not self._size or self.disk is not None:
            return
        if not self._launcher.disk:
            raise TargetError(f"target {self.name}: its kind has no folder for `disk`", "a kind that has one")
        path = Path(self.filling.fill(self._launcher.disk))
        self._note_short()
        entry = self._journal.journal("disk", "made", target=self.name, path=str(path))
        try:
            self.filling.make(path)
            disks.mount(path, self._size, self.filling.user)
        except (PileupError, OSError) as problem:
            self._close("disk", "removed", entry)
            raise TargetError(f"target {self.name}: {problem}") from problem
        self.disk, self._disk_entry = path, entry

    def _take_disk_away(self) -> None:
        if self.disk is None:
            return
        try:
            disks.unmount(self.disk)
        except PileupError as problem:  # stays open in the journal: the next start tries again
            self._tell(str(problem))
            return
        self.disk = None
        self._close("disk", "removed", self._disk_entry)

    def _do(self, task: Task) -> None:
        words = self.filling.fill_all(task.command)
        environment = {**self.filling.environment(task.environment), MARK: self._mark}
        self._note_short()
        folder, user = self.filling.fill(task.folder), self.filling.user
        done = commands.run(words, task.within, environment, folder=folder, user=user)
        (self.logs / f"{task.name}.log").write_text(done.output)
        if not done.good:
            raise TargetError(
                f"target {self.name}: its {task.name} ({words[0]}) {done.told()}", "a command that ends with 0"
            )

    def _start_one(self, daemon: Daemon) -> str:
        """Start a process and wait until it is ready; return its url."""
        words = self.filling.fill_all(daemon.command)
        self._note_short()
        path = self.logs / f"{daemon.name}.log"
        log = Log(path, path.stat().st_size if path.exists() else 0)
        about = {"target": self.name, "process": daemon.name, "command": words[0]}
        intent = self._journal.journal("server", "begun", mark=self._mark, **about)
        try:
            popen = self._open(daemon, words, path)
        except (OSError, ValueError, KeyError) as problem:
            self._close("server", "failed", intent, problem=str(problem))
            user = self._user_of(daemon)
            hint = f"it is run as user {user}, who must be able to reach it" if user else ""
            raise TargetError(
                f"target {self.name}: {words[0]} cannot be started: {problem}", "a program that runs here", hint
            ) from problem
        identity = Identity.of(popen.pid) or Identity(popen.pid, 0)
        entry = self._journal.journal("server", "started", of=intent, **self._known(identity), **about)
        process = Process(daemon, popen, identity, entry)
        names = self.names()
        self._running = sorted([*self._running, process], key=lambda each: names.index(each.daemon.name))
        return await_ready(self.name, daemon, self.filling, log, popen.poll)

    def _open(self, daemon: Daemon, words: list[str], log: Path) -> subprocess.Popen[bytes]:
        user = self._user_of(daemon)
        with ExitStack() as stack:
            output = stack.enter_context(log.open("ab"))
            listening = [stack.enter_context(self._take(port, daemon.backlog)) for port in daemon.listen]
            numbers = [each.fileno() for each in listening]
            who = commands.RunAs.of(user)
            if numbers:
                whose = f"{pwd.getpwnam(user).pw_uid}:{who.group}" if user else ""
                words = [sys.executable, "-ISc", HAND_OVER, ",".join(map(str, numbers)), whose, *words]
                who = commands.RunAs()
            return subprocess.Popen(
                words,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                env=processes.with_mark(handed_on(self.filling.environment(daemon.environment)), self._mark),
                cwd=self.filling.fill(daemon.folder),
                pass_fds=numbers,
                user=who.user,
                group=who.group,
                extra_groups=who.groups,
            )

    def _user_of(self, daemon: Daemon) -> str:
        """Return as whom a process is run; empty: as pileup itself."""
        return "" if daemon.as_pileup else self.filling.user

    def _hold(self, each: Daemon | Task) -> None:
        """Keep the ports that a process gets already listening; its start reports one that is taken."""
        if not isinstance(each, Daemon):
            return
        for port in each.listen:
            if port not in self._held:
                with suppress(OSError):
                    self._held[port] = self._listen(port, each.backlog)

    def _let_go(self) -> None:
        """Close what nobody has got."""
        while self._held:
            self._held.popitem()[1].close()

    def _take(self, port: str, backlog: int) -> socket.socket:
        listening = self._held.pop(port, None) or self._listen(port, backlog)
        listening.listen(backlog)  # one that was held may have that of the launcher before
        return listening

    def _listen(self, port: str, backlog: int) -> socket.socket:
        return socket.create_server(("127.0.0.1", self.filling.port(port)), backlog=backlog)

    def _prepare_end(self, process: Process) -> None:
        for command in process.daemon.before_end if process.alive else ():
            try:
                words = self.filling.fill_all(command)
                environment = self.filling.environment(process.daemon.environment)
                done = commands.run(words, process.daemon.grace, environment)
                problem = "" if done.good else done.told()
            except PileupError as mistake:
                problem = str(mistake)
            if problem:
                self._tell(f"before the end of {self.name}: {command[0]} {problem}")

    def _end(self, process: Process, number: int) -> None:
        self._note_gone(process)
        processes.end_leader(process.identity, self._mark, number, process.daemon.grace / 1e9)
        if process.alive:  # a process that hangs in the kernel cannot be ended
            with suppress(subprocess.TimeoutExpired):
                process.popen.wait(processes.KILLED_WITHIN)
        self._running.remove(process)
        self._close_pause(process)
        code = process.popen.returncode
        self._close("server", "ended", process.entry, target=self.name, code=code)

    def _note_gone(self, process: Process) -> None:
        if not process.alive and not process.told:
            process.told = True
            self._tell(self._told_gone(process))

    def _told_gone(self, process: Process) -> str:
        code = process.popen.returncode
        how = f"ended by itself with code {code}" if code >= 0 else f"was ended by {_signal(-code)}, not by pileup"
        return f"the {process.daemon.name} {self._whose} {how}"

    def _close_pause(self, process: Process) -> None:
        if process.pause is not None:
            self._close("pause", "ended", process.pause)
            process.pause = None

    def _close(self, what: str, state: str, of: int, **fields: Any) -> None:
        """Say in the journal that something is over. A full disk changes nothing: what is over needs no undoing."""
        with suppress(RecordError):
            self._journal.journal(what, state, of=of, **fields)

    def _tell(self, text: str) -> None:
        with suppress(RecordError):
            self._journal.event("server", text, target=self.name)

    def _note_short(self) -> None:
        """Say in the journal that a folder with a short path was made."""
        if self.filling.short is not None and self._short is None:
            self._short = self._journal.journal("scratch", "made", target=self.name, path=str(self.filling.short))

    def _known(self, identity: Identity) -> dict[str, object]:
        return {**asdict(identity), "mark": self._mark}


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # of real time: it has no name
        return f"signal {number}"
