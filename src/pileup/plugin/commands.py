"""Programs that a test runs and judges: by their exit code, by what they write, and by how long they take."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from pileup.model.errors import Ambiguous, Failed
from pileup.model.units import format_time

KEPT = 1 << 20
"""Bytes of output kept of each stream; more is read and counted."""


@dataclass(slots=True)
class Stream:
    """The output of one stream: its first KEPT bytes, and how many more there were."""

    kept: bytearray = field(default_factory=bytearray)
    cut: int = 0

    def add(self, piece: bytes) -> None:
        """Keep as much of a piece as fits."""
        room = KEPT - len(self.kept)
        self.kept += piece[:room]
        self.cut += max(0, len(piece) - room)

    def text(self) -> str:
        """Return what was kept as text; bytes that are no UTF-8 are shown as U+FFFD."""
        return self.kept.decode("utf-8", "replace")


@dataclass(slots=True)
class Finished:
    """How a program ended. `code` is negative for a signal; None when it was ended at its timeout."""

    code: int | None
    stdout: Stream
    stderr: Stream

    def expect(
        self,
        exit_code: int | Collection[int] | None = 0,
        contains: str | None = None,
        not_contains: str | None = None,
    ) -> None:
        """Judge it by its exit code (one, or several that pass; None: any) and by texts in stdout or stderr.

        Raises Failed.
        """
        codes = [exit_code] if isinstance(exit_code, int) else exit_code
        if codes is not None and self.code not in codes:
            wanted = " or ".join(str(code) for code in codes)
            raise Failed(f"exit code {self.code}, expected {wanted}{self._last_words()}")
        texts = (self.stdout.text(), self.stderr.text())
        if contains is not None and not any(contains in text for text in texts):
            raise Failed(f"{contains!r} is not in the output")
        if not_contains is not None and any(not_contains in text for text in texts):
            raise Failed(f"{not_contains!r} is in the output")

    def _last_words(self) -> str:
        """Return the last line of stderr, which usually explains a failure."""
        lines = self.stderr.text().strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""


def split_command(command: str | Sequence[str], shell: bool = False) -> list[str]:
    """Return the argument list of a command. Raises ValueError for an empty one, or quotes that do not match."""
    if shell:
        return ["/bin/sh", "-c", command if isinstance(command, str) else shlex.join(command)]
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as problem:
        raise ValueError(f"{command!r}: {problem}; expected a command with matching quotes") from None
    if not words or not words[0]:
        raise ValueError("the command is empty; expected a program and its arguments")
    if any("\0" in word for word in words):
        raise ValueError("the command has a NUL character; expected text")
    return words


def run_command(
    command: str | Sequence[str],
    *,
    timeout: int,
    exit_code: int | Collection[int] | None = 0,
    contains: str | None = None,
    not_contains: str | None = None,
    stdin: str | bytes = b"",
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    shell: bool = False,
    show: bool = True,
) -> Finished:
    """Run a program to its end, for at most `timeout` ns, and judge it as `Finished.expect` does; return how it ended.

    `command` is the program and its arguments: a list, or a text that is split at spaces as a shell does; with `shell`,
    /bin/sh runs it. `environment` is added to pileup's own. The program runs in its own process group. At the timeout
    the group gets SIGTERM, and SIGKILL two seconds later; processes that it leaves behind are ended, too. Its output is
    printed (unless `show=False`), so that the output of a test is in the record.

    Raises Ambiguous at the timeout, Failed for a program that does not exist or does not end as expected, and
    ValueError for a command that cannot be split. Blocks: in an async test, `await asyncio.to_thread(run_command, …)`.
    """
    from pileup.plugin.processes import execute  # noqa: PLC0415  kept out of start-up: see cli

    words = split_command(command, shell)
    if folder is not None and not folder.is_dir():
        raise Failed(f"there is no folder {str(folder)!r} to run {words[0]!r} in", "a folder", "make it first")
    given = stdin.encode() if isinstance(stdin, str) else stdin
    try:
        finished = execute(
            words, seconds=timeout / 1e9, stdin=given, environment=dict(environment or {}), folder=folder
        )
    except FileNotFoundError:
        raise Failed(f"there is no program {words[0]!r}", "one in PATH, or a path", "is it installed here?") from None
    except OSError as problem:
        what = f"{words[0]!r} cannot be started: {problem.strerror}"
        raise Failed(what, "a program that may be executed", "check its permissions") from None
    if show:
        _show(sys.stdout, finished.stdout)
        _show(sys.stderr, finished.stderr)
    if finished.code is None:
        limit = format_time(timeout)
        raise Ambiguous(f"no end within {limit}", "it to end by itself", "it was ended; a longer `timeout` may help")
    finished.expect(exit_code, contains, not_contains)
    return finished


def _show(file: TextIO, stream: Stream) -> None:
    """Print what was kept, which the harness captures per iteration."""
    cut = f"\n[{stream.cut} more bytes cut]\n" if stream.cut else ""
    print(stream.text() + cut, end="", file=file)
