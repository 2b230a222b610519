"""A practice storage as its users start it, on a free port of 127.0.0.1, ended by pid."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def practice_storage(*options: str) -> Iterator[str]:
    """Yield the url of a practice storage started with these options of `pileup practice storage`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pileup", "practice", "storage", *options], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert " ready at " in line, line
        yield line.rpartition(" ")[2].strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)
        process.stdout.close()
