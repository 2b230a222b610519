"""Slurm's own commands, run as a user of that Slurm, each with a time of its own."""

from __future__ import annotations

import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import time
from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pileup.builtin.slurm.words import FULL, SECOND, judged
from pileup.plugin import Ambiguous, Failed, PluginError, Refused
from pileup.plugin.credentials import handed_on

INSTALL = "apt-get install slurm-client"
TIMES = {"SLURM_TIME_FORMAT": "%s"}
"""Lets it report seconds since the epoch instead of local time."""
PIECE = 1 << 16
SYSTEM = "/usr/bin:/bin"
"""Where a program is looked for that changes the user: nowhere else, whatever PATH says."""


@dataclass(frozen=True, slots=True)
class Commands:
    """How commands are run: as whom (empty: who runs pileup), with which variables, for at most so many seconds."""

    user: str
    environment: Mapping[str, str]
    seconds: float

    def lines(self, *words: str, code: bool = True) -> list[str]:
        """Run a command that only looks; return the lines of its output. Raises Failed; Refused when not allowed."""
        output, error, ended_with = self.run(words)
        if ended_with is None:
            raise Failed(f"{words[0]} did not end within {self.seconds:g} s")
        if ended_with and code:
            problem = judged(_last(error) or f"code {ended_with}", words[0])
            raise problem if isinstance(problem, Refused) else Failed(problem.what)
        return output.splitlines()

    def run(self, words: Sequence[str], stdin: str | None = None) -> tuple[str, str, int | None]:
        """Run a command; return stdout, stderr and its code, None when it did not end in time."""
        with self._started(words, stdin is not None) as process:
            try:
                output, error = process.communicate(None if stdin is None else stdin.encode(), self.seconds)
            except subprocess.TimeoutExpired:
                _kill(process)
                output, error = process.communicate()
                return _text(output), _text(error), None
        return _text(output), _text(error), process.returncode

    def submit(self, words: Sequence[str], script: str, more: Mapping[str, str]) -> str:
        """Run sbatch; return the id that it prints.

        At the limit of jobs it does not end: it says so and asks again after a second, for two minutes. It is ended as
        soon as it says so, between two requests, so that the job is refused for sure. Raises Refused, Failed, and
        Ambiguous when it does not end in time.
        """
        end = time.monotonic() + self.seconds
        with self._started(words, stdin=True, more=more) as process:
            try:
                error = _written(process, script.encode(), end)
            finally:
                if hangs := process.poll() is None:
                    _kill(process)
            output = _text(process.stdout.read()) if process.stdout else ""
        if FULL.search(error):
            raise Refused(f"sbatch: {_last(error)}")
        number = output.strip().partition(";")[0]
        if number.isdigit():
            return number
        if hangs:
            raise Ambiguous(f"sbatch did not end within {self.seconds:g} s")
        raise judged(_last(error) or f"sbatch ended with {process.returncode} and no id", "sbatch")

    def _started(
        self, words: Sequence[str], stdin: bool, more: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        known = pwd.getpwnam(self.user) if self.user else None
        ours = handed_on() if known else os.environ  # another user's process does not get what is ours
        environment = {**ours, **TIMES, **self.environment, **(more or {})}
        program = shutil.which(words[0], path=environment.get("PATH"))
        if program is None:
            raise PluginError(f"{words[0]} is not installed here", "Slurm's commands", INSTALL)
        become = _become(known) if known else ()
        forked = None if become else known
        return subprocess.Popen(
            [*become, program, *words[1:]],
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd="/",
            start_new_session=True,
            user=forked.pw_uid if forked else None,
            group=forked.pw_gid if forked else None,
            extra_groups=[] if forked else None,
        )


def _become(user: pwd.struct_passwd) -> tuple[str, ...]:
    """Return the words before a command that make it that user's; none where setpriv (util-linux) is missing.

    When Python changes the user itself, it has to copy this process for that (fork in place of vfork): milliseconds in
    which no thread of ours runs on, and again for the pages that are written afterwards.
    """
    setpriv = shutil.which("setpriv", path=SYSTEM)
    return (setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--") if setpriv else ()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a command that has not been reaped, with whatever it has started: it leads a session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _written(process: subprocess.Popen[bytes], script: bytes, end: float) -> str:
    """Give sbatch its script and read what it complains of, until it ends, is full, or its time is up."""
    error = b""
    if process.stdin is None or process.stderr is None:
        return ""
    with suppress(BrokenPipeError), process.stdin:
        process.stdin.write(script)
    pipe = process.stderr.fileno()
    os.set_blocking(pipe, False)
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    while (left := end - time.monotonic()) > 0:
        if not poll.poll(left * 1000):
            break
        piece = os.read(pipe, PIECE)
        error += piece
        if not piece:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, end - time.monotonic()))
            break
        if FULL.search(_text(error)):
            break
    return _text(error)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _last(error: str) -> str:
    """Return the last line of what a command complained of, without who says it."""
    lines = [line for line in error.splitlines() if line.strip()]
    return lines[-1].removeprefix("sbatch: ").removeprefix("error: ").strip()[:300] if lines else ""


def token_of(output: str, error: str, code: int | None) -> tuple[str, dict[str, object]]:
    """Return the token that `scontrol token` has printed, and what it says. Raises Refused; Ambiguous for no answer."""
    if code is None:
        raise Ambiguous("scontrol token did not end in time")
    for line in output.splitlines():
        name, _, token = line.partition("=")
        if name == "SLURM_JWT":
            return token, said_by(token)
    problem = judged(_last(error) or f"code {code}", "scontrol token")
    raise problem if isinstance(problem, Ambiguous) else Refused(f"{problem.what}; expected AuthAltTypes=auth/jwt")


def said_by(token: str) -> dict[str, object]:
    """Return what a token says (RFC 7519), unverified; nothing for one that cannot be read."""
    try:
        middle = token.split(".")[1]
        told = json.loads(urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
    except (IndexError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def expiry(told: Mapping[str, object]) -> int:
    """Return when a token ends, ns since the epoch; 0 when it does not say so."""
    end = told.get("exp", 0)
    return int(end * SECOND) if isinstance(end, int | float) else 0
