"""See which files of stage requests have come, for all requests of this run."""

from __future__ import annotations

import time
from typing import ClassVar

from pileup.builtin.computing.jobs import Problems
from pileup.builtin.tape.requests import RECALLS, Names, Request, Requests, end, give_up, look, requests_of
from pileup.builtin.tape.watch import Watch
from pileup.plugin import Duration, Failed, Op, Test, VerdictException, option
from pileup.plugin.units import counted

SHOWN = 5
"""Files that a message names."""
LONGEST, SHORTEST = 10**8, 10**5
"""Bounds of a pause between two looks, ns."""


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

    _names: ClassVar[Names] = RECALLS
    _at_once: ClassVar[bool] = True
    """Whether a drain begins with a poll of all requests, whenever they were made."""

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
        problems = self._look(op, 0 if self._at_once or not self.drain else self.interval)
        while self.drain and len(requests):
            if time.monotonic() > end:
                problems.tell()
                raise Failed(self._left())
            time.sleep(self._pause(requests) / 1e9)
            problems = self._look(op, self.interval)
        self._watch.report()
        self.report("open", self.ledger.open(self._names.wait), "files")
        problems.tell()

    def _pause(self, requests: Requests) -> int:
        """Return how long nothing is to be polled, ns: at most 100 ms, since other clients put requests back."""
        due = requests.next(self.interval)
        return LONGEST if due is None else min(LONGEST, max(SHORTEST, due - time.time_ns()))

    def _look(self, op: Op, interval: int) -> Problems:
        """Poll what is to be polled at this interval, 0: all; what a poll raises leaves the others alone."""
        problems, now, over = Problems(), time.time_ns(), list[Request]()
        requests = requests_of(self.target)
        while (request := requests.take(now, interval)) is not None:
            try:
                self._poll(op, request)
                if not request.left:
                    over.append(request)
            except VerdictException as problem:
                request.polled = time.time_ns()
                problems.add(problem)
            finally:
                requests.put(request)
        for request in over:  # now: the polls of others are not to be late for that
            try:
                self.finish(op, request)
            except VerdictException as problem:
                problems.add(problem)
        return problems

    def _poll(self, op: Op, request: Request) -> None:
        fates = look(op, self.target, self.ledger, request, self.deadline)
        self._watch.take(request, fates)
        give_up(op, self.target, request, fates)

    def finish(self, op: Op, request: Request) -> None:
        """Do what is to be done with a request of which no file is awaited any more."""
        end(op, self, request, release=self.release)

    def _left(self) -> str:
        names = self.ledger.keys(self._names.wait, SHOWN)
        number = self.ledger.open(self._names.wait)
        more = ", …" if number > len(names) else ""
        return f"{counted(number, 'file')} still awaited: {', '.join(names)}{more}"
