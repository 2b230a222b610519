"""A closed loop of stat by the official XRootD bindings: so many sessions in one process, by callbacks.

Each asks again when its answer is there. Prints CPU time and count over a window as JSON; nothing is recorded.

    python benchmarks/stat_of_bindings.py URL SESSIONS PATH WARM WINDOW
"""

from __future__ import annotations

import json
import resource
import sys
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from XRootD import client


class Session:
    """One session, known by its user name."""

    over = threading.Event()
    left = threading.Semaphore(0)

    def __init__(self, host: str, number: int, path: str) -> None:
        self.system = client.FileSystem(f"root://u{number}@{host}")
        self.path = path
        self.passed = self.failed = 0

    def connect(self) -> None:
        """Log in."""
        status, _ = self.system.ping()
        self.failed += not status.ok

    def ask(self) -> None:
        """Ask once more."""
        self.system.stat(self.path, callback=self.take)

    def take(self, status: Any, _response: Any, _hosts: Any) -> None:
        """Count an answer, and ask again until the time is up."""
        if status.ok:
            self.passed += 1
        else:
            self.failed += 1
        if self.over.is_set():
            self.left.release()
        else:
            self.ask()


def main() -> None:
    """Ask for a while, and print."""
    url, sessions, path, warm, window = sys.argv[1], int(sys.argv[2]), sys.argv[3], *map(float, sys.argv[4:6])
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    parts = urlsplit(url)
    found = [Session(parts.netloc, number, f"/{parts.path.strip('/')}/{path}") for number in range(sessions)]
    for each in found:
        each.connect()
    for each in found:
        each.ask()
    time.sleep(warm)
    begin, cpu, count = time.monotonic(), time.process_time(), sum(each.passed for each in found)
    time.sleep(window)
    seconds, used = time.monotonic() - begin, time.process_time() - cpu
    asked = sum(each.passed for each in found) - count
    Session.over.set()
    for _ in found:
        Session.left.acquire(timeout=10)
    failed = sum(each.failed for each in found)
    window_told = {"count": asked, "seconds": seconds, "cpu": used, "us": used / max(1, asked) * 1e6}
    print(json.dumps({"window": window_told, "failed": failed}), flush=True)


if __name__ == "__main__":
    main()
    import os

    os._exit(0)  # the library takes its time to end
