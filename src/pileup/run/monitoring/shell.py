"""A shell at another host that prints files below /proc when it is asked to. Nothing else is needed there.

The script is in the command line of ssh, no file is left. It reads requests, a line each, and ends with its input, so
nothing stays there when pileup is killed. Each answer is between two lines with a word that only this request has, so
that no text of the far side can end it, or pass for another file.
"""

from __future__ import annotations

import os
import secrets
import select
import subprocess
import time
from collections import deque
from contextlib import suppress
from typing import IO

from pileup.fleet import child_cpu
from pileup.fleet.launch import over_ssh
from pileup.model.errors import TargetError

_LINES = """
LC_ALL=C; export LC_ALL; cd /proc || exit 1;
while read -r mark what names; do
  echo; echo "$mark begin $$";
  case "$what" in
  texts) env -i "A=$mark" "PATH=$PATH" "Z=$mark" cat $names </dev/null 2>/dev/null;;
  stats) cat self/stat $names </dev/null 2>/dev/null;
    for at in $names; do [ -r "$at" ] || [ ! -d "${at%/stat}" ] || echo "hidden ${at%/stat}"; done;;
  files) for pid in $names; do
      if [ -r "$pid/fd" ]; then set -- "$pid"/fd/*; [ -L "$1" ] || shift; echo "$pid $#";
      elif [ -d "$pid" ]; then echo "$pid -"; fi;
    done;;
  machine) set -- [0-9]*; echo "$#";
    for at in /sys/class/net/*/device /sys/block/*/device; do [ ! -e "$at" ] || echo "$at"; done;;
  esac;
  echo; echo "$mark end";
done
"""
SCRIPT = " ".join(line.strip() for line in _LINES.strip().splitlines())
"""One line without quotes, which any login shell passes on unchanged. `self` is the `cat` that reads it."""
WITHIN = 20.0
"""Seconds that an answer may take."""
MOST = 32 << 20
"""Bytes of one answer, with what a login shell prints before the first."""
KEPT = 4 << 10
"""Bytes kept of what ssh writes to its stderr."""
PIECES = 8
"""Pieces in which they may come."""


class Shell:
    """One connection. Not for several threads at once. Raises TargetError when it cannot be started."""

    def __init__(self, host: str, ssh: str | None) -> None:
        self.host = host
        self._said: deque[bytes] = deque(maxlen=PIECES)
        self._left = b""
        try:
            self._process = subprocess.Popen(
                over_ssh(host, ("/bin/sh", "-c", SCRIPT), ssh),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as problem:
            raise TargetError(f"ssh to {host} cannot be started: {problem}", "the ssh command") from problem

    def ask(self, what: str, names: str = "") -> tuple[float, int, bytes, str]:
        """Return moment (s, monotonic here), pid of the shell, answer, and the word of the request.

        The moment is half way between the request and the first of its answer. Raises TargetError; it is closed then.
        """
        mark = secrets.token_hex(16)
        try:
            return self._ask(mark, f"{mark} {what} {names}\n".encode())
        except (OSError, ValueError) as problem:
            self.close()
            raise TargetError(f"host {self.host} is lost: {problem}") from problem
        except TargetError:
            self.close()
            raise

    def close(self) -> None:
        """End it: the far side ends with its input."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        with suppress(subprocess.TimeoutExpired):
            child_cpu.wait(self._process, 2)
        if self._process.returncode is None:
            child_cpu.kill_group(self._process)
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _ask(self, mark: str, line: bytes) -> tuple[float, int, bytes, str]:
        until, sent = time.monotonic() + WITHIN, time.monotonic()
        view = memoryview(line)
        descriptor = _pipe(self._process.stdin).fileno()
        os.set_blocking(descriptor, False)
        while view:
            if not select.select((), (descriptor,), (), max(0.0, until - time.monotonic()))[1]:
                raise TargetError(f"host {self.host} accepted no request within {WITHIN:.0f} s")
            with suppress(BrokenPipeError):  # what it said says more
                view = view[os.write(descriptor, view) :]
                continue
            break
        self._read_to(f"\n{mark} begin ".encode(), until)  # before it is what a login shell prints
        first = time.monotonic()
        pid = self._read_to(b"\n", until)
        if not pid.isdigit() or len(pid) > 10:
            raise TargetError(f"host {self.host} answers {pid[:40]!r}", "the number of its shell")
        answer = self._read_to(f"\n{mark} end\n".encode(), until)
        return (sent + first) / 2, int(pid), answer, mark

    def _read_to(self, end: bytes, until: float) -> bytes:
        """Return what comes before `end`. Raises TargetError when it does not come, or too much before it."""
        parts, size, tail = [self._left], len(self._left), self._left
        while end not in tail:
            piece = self._piece(until)
            size += len(piece)
            if size > MOST:
                raise TargetError(f"host {self.host} sent more than {MOST >> 20} MiB for one request", "its /proc")
            parts.append(piece)
            tail = tail[-len(end) :] + piece
        found, _, self._left = b"".join(parts).partition(end)
        return found

    def _piece(self, until: float) -> bytes:
        output, said = _pipe(self._process.stdout).fileno(), _pipe(self._process.stderr).fileno()
        watched = [output, said]
        while (left := until - time.monotonic()) > 0:
            ready = select.select(watched, (), (), left)[0]
            if said in ready:
                text = os.read(said, KEPT)
                if text:
                    self._said.append(text)
                else:
                    watched = [output]
            if output in ready:
                if piece := os.read(output, 1 << 16):
                    return piece
                raise TargetError(self._why(said))
        raise TargetError(f"host {self.host} did not answer within {WITHIN:.0f} s")

    def _why(self, said: int) -> str:
        """Return how it ended, with the last of what it said."""
        with suppress(subprocess.TimeoutExpired):
            child_cpu.await_end(self._process, 2)
            for _ in range(PIECES):
                if select.select((said,), (), (), 0)[0] and (text := os.read(said, KEPT)):
                    self._said.append(text)
        lines = b"".join(self._said)[-KEPT:].decode(errors="replace").split("\n")
        told = " / ".join(line.strip() for line in lines if line.strip())
        return f"host {self.host}: the connection ended" + (f" and said: {told}" if told else "")


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None or stream.closed:
        raise ValueError("it is closed")
    return stream
