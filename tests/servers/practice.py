"""A practice storage on a free port of 127.0.0.1, launched as a suite's is."""

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pileup.builtin.practice.storage import READY
from pileup.plugin import Launcher
from tests.servers.launched import launched


@contextlib.contextmanager
def practice_storage(*options: str) -> Iterator[str]:
    """Yield the url of a practice storage started with these options of `pileup practice storage`."""
    command = (sys.executable, "-m", "pileup", "practice", "storage", *options)
    with tempfile.TemporaryDirectory() as folder, launched(Launcher.one(command, READY), Path(folder)) as url:
        yield url
