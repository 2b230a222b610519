"""`python -m pileup` from a process that has its modules: what starts hundreds of times need not read them each time.

A keeper is forked for each command, and the command from the keeper: a process of its own, with the arguments, folder,
environment and streams that it is given, run as `python -m` runs it. What depends on how an interpreter starts
(another user, PYTHON* variable or locale) is started by one; so are all tests that kill, stop or watch a process.
"""

import array
import atexit
import contextlib
import functools
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

LOADED = ("pileup.cli", "pileup.run", "pileup.record", "pileup.stats", "pileup.fleet", "pileup.suite", "pileup.plugin")
"""Packages whose modules are loaded, with all that they need; targets are not: bindings of others may start threads."""
BESIDE = ("altair", "duckdb", "jinja2", "rich.console", "rich.progress", "rich.table", "yaml")
"""What commands load when they need it."""
MOST = 1 << 18
"""Bytes of a request."""
STARTS = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_", "OPENBLAS", "OMP_")
"""Beginnings of the variables that an interpreter, or a library, reads when it starts."""


def same_start(environment: Mapping[str, str]) -> bool:
    """Return whether a process with this environment starts as this one has."""
    mine, other = (
        {name: value for name, value in each.items() if name.startswith(STARTS)} for each in (os.environ, environment)
    )
    return mine == other and os.geteuid() == os.getuid()


@functools.cache
def shared() -> "Warm":
    """Return the one of this process; it ends with it."""
    made = Warm()
    atexit.register(made.close)
    return made


class Ended(subprocess.CompletedProcess[str]):
    """A process that has ended, with what it used."""

    cpu = 0.0
    """Seconds of CPU time."""
    memory = 0
    """The most bytes that it had."""


class Warm:
    """Starts commands in processes forked from one that has the modules."""

    def __init__(self) -> None:
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, str(Path(__file__).resolve()), str(theirs.fileno())]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
        self.channel = mine

    def run(self, arguments: list[str], cwd: Path, environment: Mapping[str, str], timeout: float) -> Ended:
        """Run `python -m pileup` with arguments; return what it ended with.

        Raises subprocess.TimeoutExpired: it is killed then, as subprocess.run does.
        """
        words = [sys.executable, "-m", "pileup", *arguments]
        request = json.dumps({"words": words, "cwd": str(cwd), "environment": dict(environment)}).encode()
        answer, theirs = socket.socketpair()
        out, err = os.pipe(), os.pipe()
        files = array.array("i", [out[1], err[1], theirs.fileno()])
        self.channel.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files.tobytes())])
        for each in (out[1], err[1]):
            os.close(each)
        theirs.close()
        said: dict[int, bytes] = {}
        readers = [threading.Thread(target=_read, args=(end, said), daemon=True) for end in (out[0], err[0])]
        for reader in readers:
            reader.start()
        with answer, answer.makefile("r") as lines:
            pid = int(lines.readline())
            answer.settimeout(timeout)
            try:
                code, cpu, memory = lines.readline().split()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(words, timeout) from None
        for reader in readers:
            reader.join(timeout)
        texts = [said[end].decode().replace("\r\n", "\n") for end in (out[0], err[0])]
        done = Ended(words, int(code), *texts)
        done.cpu, done.memory = float(cpu), int(memory)
        return done

    def close(self) -> None:
        """End the process that has the modules."""
        self.channel.close()
        self.process.wait(10)


def _read(end: int, said: dict[int, bytes]) -> None:
    with open(end, "rb") as stream:
        said[end] = stream.read()


def load() -> None:
    """Load what commands need, and start no thread."""
    for name in LOADED:
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(found.name)
    for name in BESIDE:
        importlib.import_module(name)
    assert threading.active_count() == 1, threading.enumerate()


def serve(channel: socket.socket) -> None:
    """Fork a keeper for each request, until nobody can ask any more; return in the commands alone."""
    while True:
        request, files = _request(channel)
        if not request:
            os._exit(0)
        if os.fork() == 0:
            channel.close()
            _keep(json.loads(request), files)
            return
        for each in files:
            os.close(each)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _request(channel: socket.socket) -> tuple[bytes, list[int]]:
    files = array.array("i")
    request, beside, _, _ = channel.recvmsg(MOST, socket.CMSG_SPACE(3 * files.itemsize))
    for _, _, sent in beside:
        files.frombytes(sent)
    return request, files.tolist()


def _keep(request: dict[str, Any], files: list[int]) -> None:
    """Fork the command, wait for it and report its exit code; return in the command."""
    out, err, answer = files
    pid = os.fork()
    if pid:
        for each in (out, err):
            os.close(each)
        os.write(answer, f"{pid}\n".encode())
        _, status, used = os.wait4(pid, 0)
        cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
        os.write(answer, f"{os.waitstatus_to_exitcode(status)} {cpu} {memory}\n".encode())
        os._exit(0)
    os.close(answer)
    for each, stream in ((out, 1), (err, 2)):
        os.dup2(each, stream)
        os.close(each)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    tempfile.tempdir = None
    sys.orig_argv = list(request["words"])
    sys.argv = [sys.argv[0], *request["words"][3:]]
    if not sys.flags.safe_path:
        sys.path.insert(0, request["cwd"])


def main() -> NoReturn:
    """Load, serve; then be `python -m pileup`."""
    if not sys.flags.safe_path:
        sys.path.pop(0)
    load()
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        serve(channel)
    os._exit(_code())


def _code() -> int:
    """Run the command and what waits for its end; return its exit code. What is loaded is not taken apart."""
    code: str | int | None = 1
    try:
        runpy.run_module("pileup", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    main()
