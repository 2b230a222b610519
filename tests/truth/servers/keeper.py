"""Keeps the queue of fifo.py running at one port. On SIGUSR1 it kills it (-9), waits, and starts it again there.

`keeper.py LOG AWAY ARGUMENTS...`: AWAY in s. The log gets lines `killed` and `back` (its port takes connections again).
The queue is a fork of the keeper: a busy machine takes seconds to start an interpreter.
"""

import asyncio
import os
import signal
import sys
import time

import fifo
from wire import Log

SIGNALS = {signal.SIGUSR1, signal.SIGTERM}


def main() -> None:
    """Keep it until SIGTERM."""
    path, away, *more = sys.argv[1:]
    log = Log(path)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    server, port = start(path, "0", more)
    print(port, flush=True)
    while signal.sigwait(SIGNALS) == signal.SIGUSR1:
        log.say("killed")
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        time.sleep(float(away))
        server, _ = start(path, port, more)
        log.say("back")
    os.kill(server, signal.SIGKILL)


def start(path: str, port: str, more: list[str]) -> tuple[int, str]:
    """Start the queue, and return its pid and its port once it listens."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(into, 1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        sys.argv = ["fifo.py", path, "--port", port, *more]
        asyncio.run(fifo.main())
    os.close(into)
    with os.fdopen(out) as lines:
        return pid, lines.readline().strip()


if __name__ == "__main__":
    main()
