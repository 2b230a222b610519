"""Thousands of stage requests, whose files nobody waits for one by one."""

from __future__ import annotations

from typing import ClassVar

from pileup.builtin.tape.files import TapeFiles
from pileup.builtin.tape.requests import RECALLS, REQUEST, Names, Wanted, requests_of, submit
from pileup.plugin import Duration, Op, option


class TapeStorm(TapeFiles):
    """Make a stage request for many files on tape, and leave them to `tape.poll`.

    One iteration is one request (operation `submit`). Each of its files becomes a detached operation `recall`, which
    holds no client, thread or connection. It ends when a poll says so; where the request was not taken, it ends at
    once: refused, failed, or ambiguous if no answer came. The key of a file is `REQUEST PATH`, with the id that the
    system gave.

    In a suite: `{name: storm, use: tape.storm, target: tape, options: {files: 200}, load: {times: 5000, clients: 4}}`,
    beside it `{name: poll, use: tape.poll, target: tape, with: [storm], load: {every: 10 s}}`, and after it a
    `tape.poll` with `drain`. Where each file is asked for once, `among` is files x iterations. Requests that are not
    over at the end of the run are deleted.
    """

    name = "tape.storm"
    names: ClassVar[Names] = RECALLS
    leaves = frozenset({REQUEST})

    lifetime: Duration = option(
        0, ge=0, help="how long files should stay on disk, in whole seconds; 0 s: until they are released"
    )

    def run(self, op: Op) -> None:
        """Make one request."""
        wanted = Wanted(self.chosen(op.number), self.lifetime, f"{self.stamp}-{op.number}", self.names)
        requests_of(self.target).add(submit(op, self, wanted))

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """The request, and each file."""
        return iterations * (1 + self.files), 0
