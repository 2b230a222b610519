"""A practice token issuer in this process, with its log."""

import contextlib
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pileup._core._native import PracticeIssuer, PracticeStorage
from pileup.model.practice import IssuerSettings, StorageSettings


class RunningIssuer:
    """The server, its log (complete after the stop) and the file of its keys."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.log, self.keys = folder / "issuer.csv", folder / "keys.json"
        files = {"log": str(self.log), "public_keys": str(self.keys)}
        self._native = IssuerSettings.model_validate({**files, **settings}).to_native()
        self.server = PracticeIssuer(json.dumps(self._native))
        self.url = f"http://127.0.0.1:{self.server.port}/"

    def stop(self) -> None:
        """End it in order."""
        self.server.stop()


@contextlib.contextmanager
def practice_issuer(folder: Path, **settings: Any) -> Iterator[RunningIssuer]:
    """Yield an issuer with these settings (of a suite's `launch`)."""
    running = RunningIssuer(folder, **settings)
    try:
        yield running
    finally:
        running.stop()


@contextlib.contextmanager
def practice_storage(folder: Path, **settings: Any) -> Iterator[str]:
    """Yield the url of a storage with these settings; its log is storage.csv in the folder."""
    native = StorageSettings.model_validate({"log": str(folder / "storage.csv"), **settings}).to_native()
    server = PracticeStorage(json.dumps(native))
    try:
        yield f"http://127.0.0.1:{server.port}/"
    finally:
        server.stop()


def lines(log: Path) -> list[dict[str, str]]:
    """Read a log of a practice server."""
    with log.open(newline="") as text:
        return list(csv.DictReader(text))
