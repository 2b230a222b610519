"""Keeps the queue of fifo.py running at one port. On SIGUSR1 it kills it (-9), waits, and starts it again there.

`keeper.py LOG AWAY ARGUMENTS...`: AWAY in s. The log gets lines `killed` and `back` (its port takes connections again).
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

from wire import Log


def main() -> None:
    """Keep it until SIGTERM."""
    path, away, *more = sys.argv[1:]
    log = Log(path)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
    server, port = start(path, "0", more)
    print(port, flush=True)
    while signal.sigwait({signal.SIGUSR1, signal.SIGTERM}) == signal.SIGUSR1:
        log.say("killed")
        server.kill()
        server.wait()
        time.sleep(float(away))
        server, _ = start(path, port, more)
        log.say("back")
    server.kill()


def start(path: str, port: str, more: list[str]) -> "tuple[subprocess.Popen[str], str]":
    """Start the queue, and return it and its port once it listens."""
    command = [sys.executable, str(Path(__file__).with_name("fifo.py")), path, "--port", port, *more]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server, server.stdout.readline().strip()


if __name__ == "__main__":
    main()
