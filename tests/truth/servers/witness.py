"""Wakes up every 5 ms, and notes how late it came: what other work on the machine does to whoever waits. Not a server.

A line `late` of the log: `by` in ns. The port that it prints is none.
"""

import signal
import sys
import time

from wire import Log

EVERY = 5_000_000
LEAST = 1_000_000
"""What is not noted, ns: a timer is that late on a calm machine."""


def main() -> None:
    """Watch until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    log = Log(sys.argv[1])
    print(0, flush=True)
    while True:
        due = time.time_ns() + EVERY
        time.sleep(EVERY / 1e9)
        late = time.time_ns() - due
        if late > LEAST:
            log.say("late", by=late)


if __name__ == "__main__":
    main()
