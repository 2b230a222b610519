"""Requests to a storage without data: what its control plane does, and nothing else."""

from __future__ import annotations

from typing import ClassVar

from pileup.builtin.tape.poll import TapePoll
from pileup.builtin.tape.requests import Names, Request
from pileup.builtin.tape.storm import TapeStorm
from pileup.plugin import Count, Op, option

NAMES = Names("request", "wait", "done")


class StoragePretend(TapeStorm):
    """Request files as a copy does, and move no data: this makes the requests, `storage.follow` does the rest.

    One iteration is one request (operation `request`). From then on each of its files is a detached operation `wait`,
    which holds no client, thread or connection, until a poll of `storage.follow` says that it is ready; where the
    request was not taken, it ends at once. Files need not exist on a practice storage with a request pool.

    In a suite: `{name: pretend, use: storage.pretend, target: se, load: {times: 1000, clients: 4}}`, and after it
    `{name: follow, use: storage.follow, target: se, after: [pretend], options: {drain: true}}`; or `with: [pretend]`
    beside it, `every` so often. All files are in one folder, unless some lie `together` in one of many.
    Requests that are not over at the end of the run are deleted.
    """

    name = "storage.pretend"

    files: Count = option(1, ge=1, le=1_000_000, help="files of a request")
    prefix: str = option("/pretend", pattern=r"^(/[^/\n]+)+$", help="folder of files with numbers as names")
    among: Count = option(
        10**6, ge=1, le=10**9, help="how many there are; after the last one comes the first one again"
    )

    names: ClassVar[Names] = NAMES


class StorageFollow(TapePoll):
    """Poll the requests that `storage.pretend` has made until they are ready; then open, close and end them.

    While draining each open request is polled at each `interval` after it was made, else once in an iteration
    (operation `poll`). A file that is ready ends its
    operation `wait`; fates and causes are those of `tape.poll`. When no file of a request is awaited any more, those
    that are ready are opened (`open`) and closed (`close`), where the system can, and the request is ended (`done`).
    Over the WLCG Tape REST API `done` is a release; `open` and `close` are not in the standard, and left out where the
    metadata of the system do not name them. Over root:// a request is kXR_prepare, a poll its
    query, `done` an eviction; `open` closes the files, too.

    Samples: `polls`, how often a request was polled, one for each request that is over, and those of `tape.poll`. Waits
    are late by up to the interval. With `drain` one iteration goes on until nothing is awaited; its clients share
    the requests.
    """

    name = "storage.follow"

    _names: ClassVar[Names] = NAMES
    _at_once: ClassVar[bool] = False

    def finish(self, op: Op, request: Request) -> None:
        """Open, close and end a request."""
        self.report("polls", request.polls)
        if self.target.opens and (paths := request.delivered):
            acts = [("open", self.target.open_files), ("close", self.target.close_files)]
            for name, act in acts if self.target.closes else acts[:1]:
                with op(name, request.id) as operation:
                    operation.calls = 1
                    act(request.id, paths)
        super().finish(op, request)
