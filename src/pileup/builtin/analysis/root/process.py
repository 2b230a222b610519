"""A process of ROOT, from the side that asks: a crash, a hang or a missing ROOT is an error with its reason."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from pileup.builtin.analysis.root.worker import Answer, Order
from pileup.builtin.command.pipes import Process, close
from pileup.plugin import Failed, PluginError
from pileup.plugin.processes import started
from pileup.plugin.units import format_time

WORKER = Path(__file__).parent / "worker.py"
INSTALL = "pip install 'pileup[root]', or `python` with a Python that imports ROOT"
PIECE = 1 << 16
LAST_WORDS = 1 << 12
"""Bytes of what it prints last that are kept."""
REAPED_WITHIN = 10
"""Seconds."""
LONGEST = 1 << 26
"""Bytes of an answer."""


class RootProcess:
    """One process with ROOT in it. Started when it is first asked; after it has ended it is started again."""

    def __init__(self, python: str, environment: Mapping[str, str]) -> None:
        self._python = python or sys.executable
        self._environment = dict(environment)
        self._stack = ExitStack()
        self._process: Process | None = None
        self._answers = bytearray()
        self._words = bytearray()

    @property
    def runs(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._process is not None

    def ask(self, order: Order, seconds: float) -> Answer:
        """Send an order and return the answer.

        Raises Failed, PluginError where there is no ROOT, TimeoutError after so many seconds; it is ended then.
        """
        process = self._process = self._process or self._start()
        self._words.clear()
        self._send(process, order)
        answer: Answer = json.loads(self._line(process, order["do"], seconds))
        if missing := answer.get("missing"):
            self.close()
            raise PluginError(f"the engine rdataframe needs ROOT: {self._python}: {missing}", "it installed", INSTALL)
        if problem := answer.get("problem"):
            what, expected, hint = problem
            raise Failed(self._with_words(what), expected, hint)
        return answer

    def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        self._stack.close()
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(REAPED_WITHIN)  # it is large: the kernel may take a while
        self._answers.clear()
        self._words.clear()

    def _start(self) -> Process:
        words = [self._python, "-u", str(WORKER)]
        try:
            process = self._stack.enter_context(started(words, stdin=True, environment=self._environment))
        except OSError as problem:
            told = f"the Python of the engine rdataframe cannot be started: {self._python}: {problem.strerror}"
            raise PluginError(told, "a program", "correct the option `python`") from problem
        self._stack.callback(close, process)
        return process

    def _send(self, process: Process, order: Order) -> None:
        if process.stdin is not None:
            try:
                process.stdin.write(json.dumps(order).encode() + b"\n")
            except BrokenPipeError:
                raise self._ended(process, order["do"]) from None

    def _line(self, process: Process, doing: str, seconds: float) -> bytes:
        """Return the next answer, a line."""
        end = time.monotonic() + seconds
        answers, words = (pipe.fileno() for pipe in (process.stdout, process.stderr) if pipe is not None)
        while b"\n" not in self._answers:
            ready = select.select([answers, words], [], [], max(0.0, end - time.monotonic()))[0]
            if not ready:
                self.close()
                raise TimeoutError(f"ROOT gave no answer to {doing!r} within {format_time(round(seconds * 1e9))}")
            self._take(words in ready, words)
            if answers in ready:
                piece = os.read(answers, PIECE)
                if not piece or len(self._answers) > LONGEST:
                    raise self._ended(process, doing)
                self._answers += piece
        line, _, rest = bytes(self._answers).partition(b"\n")
        self._answers[:] = rest
        return line

    def _take(self, ready: bool, words: int) -> None:
        if ready:
            self._words += os.read(words, PIECE)
            del self._words[:-LAST_WORDS]

    def _ended(self, process: Process, doing: str) -> Failed:
        code = process.wait(10)
        told = f"ROOT ended with signal {-code}" if code < 0 else f"ROOT ended with code {code}"
        told = self._with_words(f"{told} during {doing!r}")
        self.close()
        return Failed(told, "it to answer", "the next iteration starts it again")

    def _with_words(self, what: str) -> str:
        """Return what happened with the last line of what was printed about it."""
        lines = [line.strip() for line in self._words.decode("utf-8", "replace").splitlines() if line.strip()]
        self._words.clear()
        return f"{what}: {lines[-1][-300:]}" if lines else what
