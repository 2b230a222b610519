"""A monitor out of a log."""

import re
from collections.abc import Iterator

from pileup.plugin import Monitor, Sample, option
from pileup.plugin.logs import AT_ONCE, Log, by_line


def seconds(line: str) -> float | None:
    """Return how long a knock took, None for any other line."""
    found = re.fullmatch(r"KNOCK .* took ([0-9.]+) s", line)
    return float(found[1]) if found else None


class Knocks(Monitor):
    """Knocks that a door has in its log."""

    name = "toy-knocks"

    target: str = option(help="name of the door")

    def open(self) -> None:
        """Find the log."""
        self._log = Log(self.watched().log(), by_line(seconds), back=AT_ONCE)  # type: ignore[attr-defined]

    def sample(self) -> Iterator[Sample]:
        """Read what was added."""
        found = list(self._log.entries())
        yield Sample("number", len(found))
        yield Sample("longest", max(found, default=0), "s")

    def close(self) -> None:
        """Let go of the log."""
        self._log.close()
