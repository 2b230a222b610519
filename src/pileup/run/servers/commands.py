"""Commands that pileup runs for servers, settings and faults: split as a shell would, in a session of their own."""

from __future__ import annotations

import os
import pwd
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pileup.model.child_environment import handed_on
from pileup.model.errors import TargetError

KEPT = 64 << 10
"""Bytes kept of the end of the output."""
SHOWN = 300
"""Characters of output quoted in a message."""
LOOK = 0.1
"""Seconds between two looks whether a command is given up."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended: its code (negative: a signal; None: its time was up), and stdout and stderr as one text."""

    code: int | None
    output: str

    @property
    def good(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0

    def told(self) -> str:
        """Return in words how it ended and what it said last."""
        how = "did not end in time" if self.code is None else f"ended with code {self.code}"
        return f"{how} and said: {shorten(self.output)}"


def shorten(text: str) -> str:
    """Return the end of an output on one line."""
    line = " | ".join(part.strip() for part in text.splitlines() if part.strip())
    return ("…" + line[-SHOWN:] if len(line) > SHOWN else line) or "nothing"


def words_of(text: str, filled: Mapping[str, str]) -> list[str]:
    """Return the words of a command, with `{name}` filled in after splitting: a value never becomes several words.

    No shell runs it; where one is needed the text says so: `sh -c '…'`. A command given to ssh is read once more by
    the shell there. Raises TargetError for quotes that do not match, or no words at all.
    """
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise TargetError(f"the command {text!r} cannot be split: {problem}", "matching quotes") from None
    if not words:
        raise TargetError("a command is empty", "a program and its arguments")
    return [_fill(word, filled) for word in words]


def _fill(word: str, filled: Mapping[str, str]) -> str:
    for name, value in filled.items():
        word = word.replace(f"{{{name}}}", value)
    return word


@dataclass(frozen=True, slots=True)
class RunAs:
    """Whose a started process is, as `subprocess` takes it; None: ours."""

    user: str | None = None
    group: int | None = None
    groups: list[int] | None = None

    @classmethod
    def of(cls, user: str) -> RunAs:
        """Return what makes a started process that user's; ours for an empty name. Raises KeyError."""
        return cls(user, pwd.getpwnam(user).pw_gid, []) if user else cls()


def run(
    words: Sequence[str],
    within: int,
    environment: Mapping[str, str] | None = None,
    *,
    folder: Path | str | None = None,
    user: str = "",
    given_up: Callable[[], bool] | None = None,
    whole: bool = False,
) -> Finished:
    """Run a command for at most `within` ns, or until `given_up`; what is left of its session is killed then.

    It gets what of our environment is for others, and `environment`; all of ours with `whole`: a command that the
    suite names is the user's own.

    Raises TargetError when it cannot be started.
    """
    with tempfile.TemporaryFile() as output:
        try:
            who = RunAs.of(user)
            process = subprocess.Popen(
                list(words),
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})} if whole else handed_on(environment),
                cwd=folder,
                start_new_session=True,
                user=who.user,
                group=who.group,
                extra_groups=who.groups,
            )
        except (OSError, ValueError, KeyError) as problem:
            raise TargetError(
                f"{words[0]} cannot be started: {getattr(problem, 'strerror', None) or problem}",
                "a program that runs here",
            ) from problem
        code = _wait(process, within, given_up)
        output.seek(max(0, output.seek(0, os.SEEK_END) - KEPT))
        return Finished(code, output.read().decode("utf-8", "replace"))


def _wait(process: subprocess.Popen[bytes], within: int, given_up: Callable[[], bool] | None) -> int | None:
    deadline = time.monotonic() + within / 1e9
    while (left := deadline - time.monotonic()) > 0 and not (given_up and given_up()):
        with suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, LOOK) if given_up else left)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return None
