"""Stage files from tape, as a client of one request does: ask, poll until all is over, release."""

from __future__ import annotations

import time

from pileup.builtin.tape.files import TapeFiles
from pileup.builtin.tape.requests import (
    CANCELLED,
    DELIVERED,
    REQUEST,
    Request,
    Wanted,
    cancel,
    end,
    give_up,
    look,
    submit,
)
from pileup.builtin.tape.watch import Watch
from pileup.plugin import Duration, Failed, Op, VerdictException, option
from pileup.plugin.units import counted


class TapeStage(TapeFiles):
    """Ask for files on tape in one request, poll until all of them have come, and release them.

    One iteration is one request. Operations: `submit`, every `poll`, `cancel`, `release`; and for each file the
    detached operation `recall`, from the request until the poll that says that it is there or will not come. What
    becomes of a file is described at `tape.poll`. The times are those of the polls, and so late by up to the time
    between two polls: the sample `poll_gap` is the longest one. Other samples: `polls`, and `files_delivered`,
    `files_failed`, `files_cancelled`, `files_lost`, `files_unanswered` of each iteration. The artefact
    `not-delivered.csv` names every file that did not come.

    With `cancel_after` files that have not come by then are cancelled, which is no failure; a file that does not come
    for another reason fails the iteration. A poll that is refused or not answered is repeated at the next interval.
    """

    name = "tape.stage"
    waits = True
    leaves = frozenset({REQUEST})

    interval: Duration = option("1 s", gt=0, help="time between two polls")
    lifetime: Duration = option(
        0, ge=0, help="how long files should stay on disk, in whole seconds; 0 s: until they are released"
    )
    deadline: Duration | None = option(
        None, gt=0, help="how long files are awaited; default: nine tenths of the timeout"
    )
    cancel_after: Duration | None = option(None, ge=0, help="cancel what has not come after this time")
    release: bool = option(True, help="release what has come, at the end")

    def setup(self) -> None:
        """Begin to count."""
        self._watch = Watch(self)

    def run(self, op: Op) -> None:
        """Stage the files of one request."""
        wanted = Wanted(self.chosen(op.number), self.lifetime, f"{self.stamp}-{op.number}")
        request = submit(op, self, wanted)
        polls = self._follow(op, request)
        end(op, self, request, release=self.release)
        lacking = self.files - self._watch.counts[DELIVERED]
        meant = self._watch.counts[CANCELLED] if self.cancel_after is not None else 0
        first = self._watch.first
        self.report("polls", polls)
        self._watch.report()
        if lacking > meant:
            raise Failed(f"{counted(lacking, 'file')} of {self.files} did not come: {first}")

    def _follow(self, op: Op, request: Request) -> int:
        """Poll until nothing is awaited; return how often."""
        deadline = self.deadline or int(0.9 * self.context.timeout)
        cancel_at = None if self.cancel_after is None else request.since + self.cancel_after
        polls = 0
        while request.left:
            if cancel_at is not None and time.time_ns() >= cancel_at:
                cancel_at = None
                cancel(op, self.target, request, request.left)
            polls += 1
            try:
                fates = look(op, self.target, self.ledger, request, deadline)
                self._watch.take(request, fates)
                give_up(op, self.target, request, fates)
            except VerdictException:
                if time.time_ns() - request.since > deadline:
                    raise
            if request.left:
                time.sleep(self.interval / 1e9)
        return polls

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Polls are as many as it takes."""
        return None, 0
