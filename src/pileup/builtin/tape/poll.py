"""See which files of stage requests have come, for all requests of this run."""

from __future__ import annotations

import time

from pileup.builtin.computing.jobs import Problems
from pileup.builtin.tape.requests import RECALL, Request, end, give_up, look, requests_of
from pileup.builtin.tape.watch import Watch
from pileup.plugin import Duration, Failed, Op, Test, VerdictException, option
from pileup.plugin.units import counted

SHOWN = 5
"""Files that a message names."""


class TapePoll(Test):
    """Poll the stage requests that `tape.storm` has made, and end the operations of their files.

    One iteration polls each open request once (operation `poll`), those first that were not polled for longest. Each
    file of the answer that has come, or will not come, ends its operation `recall`: passed, or failed with what the
    library says; cancelled files have the cause `cancelled`. A file that is in no answer any more is lost, and so are
    all files of a request that the library does not know: they have failed with the cause `forgotten`. A file that has
    no end after `deadline` is unfinished, and cancelled (operation `cancel`). When no file of a request is awaited any
    more, those that have come are released (operation `release`).

    Times are those of the polls: a file may have been there for up to the time between two polls, of which the sample
    `poll_gap` has the longest. Other samples: `files_delivered`, `files_failed`, `files_cancelled`, `files_lost`,
    `files_unanswered` and their sum `files_over`, for each iteration, and `open` (files). The artefact
    `not-delivered.csv` names every file that did not come. Several clients share the requests. It sees those of its
    own place; with N places use the load `{clients: N, times: N}`.

    With `drain` one iteration goes on until no file is awaited, and fails shortly before its timeout.
    """

    name = "tape.poll"
    needs = "staging"

    drain: bool = option(False, help="go on until no file is awaited any more")
    interval: Duration = option("1 s", gt=0, help="time between two polls of a request while draining")
    deadline: Duration | None = option(
        None, gt=0, help="how long a file is awaited after its request was made; default: as long as somebody polls"
    )
    release: bool = option(True, help="release the files of a request that is over")

    def check(self) -> None:
        """Say that nobody waits for a drain once the run is stopped."""
        self.waits = self.drain

    def setup(self) -> None:
        """Begin to count."""
        self._watch = Watch(self)

    def run(self, op: Op) -> None:
        """Poll once, or until all is over."""
        end = time.monotonic() + 0.9 * self.context.timeout / 1e9
        requests = requests_of(self.target)
        problems = self._look(op, time.time_ns())
        while self.drain and len(requests):
            if time.monotonic() > end:
                problems.tell()
                raise Failed(self._left())
            time.sleep(min(self.interval, 10**8) / 1e9)
            problems = self._look(op, time.time_ns() - self.interval)
        self._watch.report()
        self.report("open", self.ledger.open(RECALL), "files")
        problems.tell()

    def _look(self, op: Op, before: int) -> Problems:
        """Poll what was not polled since a time; what a poll raises leaves the others alone."""
        problems = Problems()
        requests = requests_of(self.target)
        while (request := requests.take(before)) is not None:
            try:
                self._poll(op, request)
            except VerdictException as problem:
                request.polled = time.time_ns()
                problems.add(problem)
            finally:
                requests.put(request)
        return problems

    def _poll(self, op: Op, request: Request) -> None:
        fates = look(op, self.target, self.ledger, request, self.deadline)
        self._watch.take(request, fates)
        give_up(op, self.target, request, fates)
        if not request.left:
            end(op, self, request, release=self.release)

    def _left(self) -> str:
        names = self.ledger.keys(RECALL, SHOWN)
        number = self.ledger.open(RECALL)
        more = ", …" if number > len(names) else ""
        return f"{counted(number, 'file')} still awaited: {', '.join(names)}{more}"
