"""A practice tape library in this process, with its events, and a client of its API."""

import contextlib
import csv
import http.client
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pileup._core._native import PracticeTape
from pileup.model.practice import TapeSettings

FAST: dict[str, Any] = {
    "speed_up": 200,
    "drives": 1,
    "cartridges": 1,
    "mount": "10 s",
    "dismount": "5 s",
    "seek": "2 s",
    "speed": "1 MB/s",
    "size": "3 MB",
}
"""The first file takes 15 s of the library and the next 5 s: 75 ms and 25 ms of real time."""


@dataclass
class Answer:
    """What the server has answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


class RunningTape:
    """The server and its events (complete after the stop)."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self._events = folder / "tape.csv"
        native = TapeSettings.model_validate({"events": str(self._events), **FAST, **settings}).to_native()
        self.server = PracticeTape(json.dumps(native))
        self.url = f"http://127.0.0.1:{self.server.port}/"

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Send a request with a body in JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            got = connection.getresponse()
            return Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, got.read())

    def stage(self, *paths: str, **more: str) -> str:
        """Ask for files; return the id of the request."""
        answer = self.ask("POST", "/api/v1/stage", {"files": [{"path": path, **more} for path in paths]})
        assert answer.status == 201, answer.body
        found: str = answer.json["requestId"]
        return found

    def states(self, request: str) -> dict[str, str]:
        """Return the state of each file of a request."""
        return {file["path"]: file["state"] for file in self.ask("GET", f"/api/v1/stage/{request}").json["files"]}

    def done(self, request: str) -> dict[str, str]:
        """Return the states once all of them are final."""
        for _ in range(2000):
            states = self.states(request)
            if not {"SUBMITTED", "STARTED"} & set(states.values()):
                return states
            time.sleep(0.01)
        raise AssertionError(f"still {states}")

    def counted(self, name: str, number: int) -> None:
        """Wait until there are so many."""
        for _ in range(2000):
            counts = self.ask("GET", "/counts").json
            if counts[name] == number:
                return
            time.sleep(0.01)
        raise AssertionError(counts)

    def events(self) -> list[dict[str, str]]:
        """End the server and return what has happened."""
        self.server.stop()
        with self._events.open(newline="") as text:
            return list(csv.DictReader(text))


@contextlib.contextmanager
def practice_tape(folder: Path, **settings: Any) -> Iterator[RunningTape]:
    """Yield a library with these settings (those of `FAST` unless they say otherwise)."""
    running = RunningTape(folder, **settings)
    try:
        yield running
    finally:
        running.server.stop()
