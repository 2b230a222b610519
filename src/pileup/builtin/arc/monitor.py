"""Watches a computing element, ARC CE."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from pileup.builtin.arc.accounting import Accounting
from pileup.builtin.arc.target import ArcTarget
from pileup.plugin import Monitor, PluginError, Sample, option
from pileup.plugin.batch import JobState

STATES = ("accepted", "preparing", "submit", "inlrms", "finishing", "canceling")
"""States of A-REX in which a job is not over, in their order; each is an event of its accounting."""
FINISHED = "finished"
GONE = ("finished", "deleted")
AT_ONCE = 20_000


class ArcMonitor(Monitor):
    """Count the jobs of an ARC CE by their state in A-REX, and measure how fast they advance.

        monitors: [{use: arc, target: ce, every: 5 s}]
        criteria:
          - {id: C1, says: A-REX keeps up with submissions, check: "max(arc.jobs[state=preparing]) < 500"}

    On a CE that pileup launched, from its accounting, all users together:

    | metric | unit | what |
    |---|---|---|
    | `jobs[state=accepted]` `preparing` `submit` `inlrms` `finishing` `canceling` | | jobs in this state |
    | `rate[state=accepted]` `preparing` … `finished` | /s | jobs that entered this state since the sample before |
    | `total[of=accepted]` `finished` `failed` | | jobs since the first sample: accepted, ended, and failed |

    A job in `submit` is being handed to the batch system; one in `inlrms` is waiting or running there. The monitor
    `slurm` with the same target distinguishes these two. A sample reads only new entries of the accounting and takes
    less than a millisecond. It causes no work in A-REX.

    On a site's CE it measures `jobs[state=queued]`, `running`, `completed`, `failed` and `cancelled` of pileup's own
    users, by REST. A sample takes several requests, so use an interval such as 30 s.
    """

    name = "arc"

    target: str = option(help="name of a target of the suite, of kind arc")

    def check(self) -> None:
        """Begin with nothing known."""
        self._states: dict[int, str] = {}
        """Job (by its number in the accounting) that is not over: its state."""
        self._number = 0
        self._path = ""
        self._moment: float | None = None
        self._sums: Counter[str] = Counter(accepted=0, finished=0, failed=0)

    def sample(self) -> Iterator[Sample]:
        """Ask once. Raises PluginError, TargetError, Failed, Ambiguous."""
        target = self._element()
        if target.accounting is not None:
            yield from self._by_accounting(target.accounting)
            return
        counts = target.counts()
        for state in JobState:
            yield Sample("jobs", counts.get(state, 0), "", f"state={state}")

    def lacks(self) -> str:
        """Report a CE whose accounting is on a host that is not ours."""
        if self._element().accounting is not None:
            return ""
        return "its accounting cannot be read: only the `jobs` of pileup's users are known, by REST"

    def _element(self) -> ArcTarget:
        target = self.watched()
        if not isinstance(target, ArcTarget):
            raise PluginError(f"a target of kind {target.kind} is not an ARC CE", "a target of kind arc")
        return target

    def _by_accounting(self, accounting: Accounting) -> Iterator[Sample]:
        if accounting.url != self._path:
            self._path, self._number, self._states = accounting.url, 0, {}
        first, before = self._moment is None, self._moment or 0.0
        grown = self._read(accounting)
        self._moment = time.monotonic()
        counts = Counter(self._states.values())
        for state in STATES:
            yield Sample("jobs", counts[state], "", f"state={state}")
        if first:
            return
        for name in self._sums:
            self._sums[name] += grown[name]
            yield Sample("total", self._sums[name], "", f"of={name}")
        if (passed := self._moment - before) > 0:
            for state in (*STATES, FINISHED):
                yield Sample("rate", grown[state] / passed, "/s", f"state={state}")

    def _read(self, accounting: Accounting) -> Counter[str]:
        """Take in what is new; return how many jobs came into each state, and how many have failed."""
        grown: Counter[str] = Counter()
        while True:
            events = accounting.events_since(self._number, AT_ONCE)
            for event in events:
                self._number = event.number
                self._take(event.record, event.state, grown)
                grown["failed"] += event.state == FINISHED and event.status == "failed"
            if len(events) < AT_ONCE:
                return grown

    def _take(self, record: int, state: str, grown: Counter[str]) -> None:
        if state in GONE:
            self._states.pop(record, None)
        elif state in STATES:
            self._states[record] = state
        grown[state] += 1
