"""Servers of the second opinion as processes of their own, and what their logs say."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SERVERS = Path(__file__).with_name("servers")
Line = dict[str, Any]


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    process: "subprocess.Popen[str]"
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/"

    def lines(self, *what: str) -> list[Line]:
        """Return the lines of these kinds, all without one, of its log; of those who look (id 0) none."""
        if not self.log.exists():
            return []
        found = [json.loads(text) for text in self.log.read_text().splitlines()]
        return [line for line in found if line.get("id") != 0 and (not what or line["what"] in what)]

    def idle(self, within: float = 15) -> None:
        """Wait until all that has come is answered."""
        until = time.monotonic() + within
        while len(self.lines("arrived")) > len(self.lines("ended")) and time.monotonic() < until:
            time.sleep(0.1)


@contextlib.contextmanager
def started(script: str, log: Path, *arguments: str) -> Iterator[Server]:
    """Yield a server of servers/SCRIPT.py; it is ended by its pid."""
    command = [sys.executable, str(SERVERS / f"{script}.py"), str(log), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process, int(process.stdout.readline()), log)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()


@contextlib.contextmanager
def busy(loops: int, seconds: float) -> Iterator[None]:
    """Keep the machine busy with so many endless loops, for so long at most."""
    burn = f"import time\nuntil = time.monotonic() + {seconds}\nwhile time.monotonic() < until: pass"
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(subprocess.Popen([sys.executable, "-c", burn])) for _ in range(loops)]
        try:
            yield
        finally:
            for process in processes:
                process.kill()
