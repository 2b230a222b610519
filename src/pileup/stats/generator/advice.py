"""What to do about a bottleneck."""

from __future__ import annotations

from collections.abc import Iterable

from pileup.model.bottleneck import LimitedBy
from pileup.model.cause import Cause
from pileup.model.manifest import CaseEntry
from pileup.model.results import ErrorGroup
from pileup.stats.generator.holdups import Stretch

RAISED_LIMITS = {
    Cause.OPEN_FILES.word: "Raise the hard limit of open files (`ulimit -Hn`)",
    Cause.LOCAL_PORTS.word: "Widen `net.ipv4.ip_local_port_range`",
}
MORE_PLACES = "Use more processes or hosts: `--fleet processes:4`, `--fleet ssh:HOST`"


def against_pileup(stretches: Iterable[Stretch], interpreted: bool) -> str:
    """Return what to do where pileup was the bottleneck at some times, or all the time where none are given."""
    found = tuple(stretches)
    if any(each.stopped for each in found):
        return "Run pileup on a host that is not paused, and where nothing else takes the CPU"
    if any(each.loop for each in found):
        return "Do not block the event loop in an async test: move work that computes or waits into a plain test"
    if any(each.waited for each in found):
        return "Stop other programs on this host, or run pileup on a host of its own"
    if interpreted:
        return f"{MORE_PLACES}; or write the test as a program for the native engine"
    return f"{MORE_PLACES}; or offer less load"


def against_refusals(failures: Iterable[ErrorGroup]) -> str:
    """Return what to do where the machine of pileup refused open files or local ports."""
    told = dict.fromkeys(RAISED_LIMITS[each.cause] for each in failures)
    return f"{'. '.join(told)}; or use more hosts: `--fleet ssh:HOST`"


def to_learn_more(by: LimitedBy, entry: CaseEntry, wrong: bool) -> str:
    """Return the next step where pileup was not the bottleneck; `wrong` says that a good part did not pass."""
    if wrong:
        return "Look at *Errors* and the output of the case"
    if by is LimitedBy.SYSTEM:
        what = "clients" if entry.load_kind == "closed" else "rate"
        return f"Find the highest {what} that it sustains: `find`; monitors on its hosts show what is used up"
    if by is LimitedBy.UNKNOWN:
        return "Measure longer: `for`"
    if entry.find or by is LimitedBy.HELD:
        return ""
    if by is LimitedBy.LOAD:
        return _beyond_the_load(entry)
    return "Raise `clients` until the rate no longer grows: `find`"


def _beyond_the_load(entry: CaseEntry) -> str:
    """Return the next step where everything that was asked for was done."""
    if entry.load_kind == "open":
        return "Raise the rate to reach the limit of the system: `find`"
    if (entry.clients or 1) < (entry.times or 0):
        return "Vary `clients` in a scan: more may end it earlier; or press for a time (`for`) to measure a rate"
    return "Each iteration had a client of its own: more clients change nothing; press for a time (`for`) for a rate"
