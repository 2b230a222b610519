"""stdout and stderr of the process: that one takes no more does not break a command off.

The command goes on to its end: a run is judged and cleaned up, files are written. A reader that has gone (`| head`) is
no problem; anything else (a full disk) is reported on stderr, and is the exit code of a command that has passed.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from pileup.model.exits import ExitCode

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Output(io.FileIO):
    """A file descriptor that is written to until it takes no more; what comes then is dropped."""

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self.problem: OSError | None = None
        """Why it takes no more."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or drop what is given."""
        if self.problem is None:
            try:
                return super().write(data)
            except OSError as problem:
                self.problem = problem
                self.fails(problem)
        return memoryview(data).nbytes

    def fails(self, problem: OSError) -> None:
        """Do what is to be done at the first failure: nothing."""


class Results(Output):
    """stdout: what goes there is what somebody has asked for."""

    def fails(self, problem: OSError) -> None:
        """Report it, unless the reader has gone."""
        if problem.errno != errno.EPIPE:
            from pileup.cli.messages import print_problem

            what = f"stdout cannot be written: {problem.strerror}"
            print_problem(what, "a file or a pipe with room", "the command goes on; send its output elsewhere")

    def code(self, code: int) -> int:
        """Return the exit code of a process whose command has ended with `code`."""
        lost = self.problem is not None and self.problem.errno != errno.EPIPE
        return ExitCode.OUTPUT_LOST if lost and code == ExitCode.PASSED else code


def take_over() -> Results:
    """Make stdout and stderr of the process such files, as they were in all else; return that of stdout.

    One that is closed takes all and drops it.
    """
    results = Results(_number(sys.stdout))
    sys.stdout = _like(sys.stdout, results)
    sys.stderr = _like(sys.stderr, Output(_number(sys.stderr)))
    return results


def _number(stream: TextIO | None) -> int:
    return os.open(os.devnull, os.O_WRONLY) if stream is None else stream.fileno()


def _like(stream: TextIO | None, raw: Output) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return io.TextIOWrapper(io.BufferedWriter(raw), "utf-8")
    behind = raw if stream.write_through else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        behind,
        stream.encoding,
        stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
