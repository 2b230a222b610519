"""Stage requests under way: what is still awaited of each, and what the ledger learns of it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from pileup.plugin import Ambiguous, Cause, Ledger, NotThere, Op, Outcome, Refused, Test, VerdictException
from pileup.plugin.operation import End
from pileup.plugin.tape import FileState, StagedFile, StagingTarget

RECALL = "recall"
"""Detached operation of a file: from the request until a poll says that it is there, or will not come."""


class Names(NamedTuple):
    """What operations are called."""

    submit: str
    wait: str
    """Detached, of a file."""
    release: str


RECALLS = Names("submit", RECALL, "release")
FORGOTTEN = "the library does not know the file any more"
NO_REQUEST = "the library does not know the request any more"
DELIVERED, FAILED, CANCELLED, LOST, UNANSWERED = WORDS = "delivered", "failed", "cancelled", "lost", "unanswered"
"""What becomes of a file that was asked for."""
REQUEST, RELEASED = "request", "released"
"""What is claimed of a request: that there may be one, and that nothing of it is left to be undone."""
CAUSES = {CANCELLED: Cause.CANCELLED, LOST: Cause.FORGOTTEN}
OUTCOMES = {DELIVERED: Outcome.PASSED, UNANSWERED: Outcome.UNFINISHED}
"""Word -> outcome of the operation; any other has failed."""


class Fate(NamedTuple):
    """What has become of a file."""

    path: str
    word: str
    reason: str = ""


class Wanted(NamedTuple):
    """What is asked for in a request."""

    paths: Sequence[str]
    lifetime: int
    """How long the files should stay on disk, ns; 0: until they are released."""
    name: str
    """How it is claimed, and what stands for its id in the record as long as it has none."""
    names: Names = RECALLS


class Request:
    """A stage request and its files. Paths are kept as one text: a million of them take a few MB."""

    __slots__ = ("_delivered", "_left", "gap", "id", "name", "names", "polled", "polls", "since")

    def __init__(self, number: str, paths: Sequence[str], since: int, name: str = "", names: Names = RECALLS) -> None:
        """`since`: when it was made, ns since the epoch; `name`: how it is claimed."""
        self.id, self.name, self.names = number, name, names
        self.polls = 0
        """How often it was polled."""
        self.since = self.polled = since
        self.gap = 0
        """Longest time between two polls, ns: how late a file may be seen."""
        self._left = "\n".join(paths)
        self._delivered = ""

    @property
    def left(self) -> list[str]:
        """Paths of the files that are awaited."""
        return self._left.split("\n") if self._left else []

    @property
    def delivered(self) -> list[str]:
        """Paths of the files that have come."""
        return self._delivered.split("\n") if self._delivered else []

    def due(self, interval: int) -> int:
        """Return when it is to be polled next, ns since the epoch: at multiples of the interval after it was made."""
        return self.since + ((self.polled - self.since) // interval + 1) * interval if interval else self.polled

    def key(self, path: str) -> str:
        """How a file is called in the record."""
        return f"{self.id} {path}"

    def tell(
        self, ledger: Ledger, files: Sequence[StagedFile] | None, now: int, deadline: int | None = None
    ) -> list[Fate]:
        """Give the ledger what a poll has said, and return what has become of files since the one before.

        `files` None: the library does not know the request. After `deadline` ns files are not awaited any more.
        """
        self.gap, self.polled = max(self.gap, now - self.polled), now
        known = None if files is None else {file.path: file for file in files}
        late = deadline is not None and now - self.since >= deadline
        fates, left = [], []
        for path in self.left:
            fate = _fate(path, known, late=late)
            if fate is None:
                left.append(path)
            else:
                fates.append(fate)
        self._left = "\n".join(left)
        self._delivered = "\n".join((*self.delivered, *(fate.path for fate in fates if fate.word == DELIVERED)))
        _end(ledger, self.names.wait, [(self.key(fate.path), fate) for fate in fates], now)
        return fates


class Requests:
    """Those of all submitters of this process that are not over, longest not polled first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: deque[Request] = deque()
        self._held = 0

    def __len__(self) -> int:
        with self._lock:
            return len(self._open) + self._held

    def add(self, request: Request) -> None:
        """Take one in."""
        with self._lock:
            self._open.append(request)

    def take(self, now: int, interval: int = 0) -> Request | None:
        """Return one that is to be polled, for as long as that takes; None: there is none. `interval` 0: any one."""
        with self._lock:
            if not self._open or self._open[0].due(interval) > now:
                return None
            self._held += 1
            return self._open.popleft()

    def next(self, interval: int) -> int | None:
        """Return when one is to be polled that is polled at this interval, ns since the epoch; None: none waits."""
        with self._lock:
            return self._open[0].due(interval) if self._open else None

    def put(self, request: Request) -> None:
        """Take one back, unless nothing of it is awaited."""
        with self._lock:
            self._held -= 1
            if request.left:
                self._open.append(request)


_ALL: WeakKeyDictionary[StagingTarget, Requests] = WeakKeyDictionary()
_ALL_LOCK = threading.Lock()


def requests_of(target: StagingTarget) -> Requests:
    """Return the requests of this process at a target; a server that is started again knows none of them."""
    with _ALL_LOCK:
        return _ALL.setdefault(target, Requests())


def submit(op: Op, test: Test, wanted: Wanted) -> Request:
    """Ask for files (operation `submit`, or as `names` say); each is a detached operation (`recall`) from now on.

    The request is claimed before it is made, and with its id afterwards: a crash leaves no request unknown. Where it is
    not taken, each file has its outcome.
    """
    paths, name, names = wanted.paths, wanted.name, wanted.names
    test.claim(name, what=REQUEST)
    since = time.time_ns()
    try:
        with op(names.submit, paths[0]) as submission:
            submission.calls = 1
            request = Request(test.target.stage(paths, wanted.lifetime), paths, since, name, names)
    except VerdictException as problem:
        if not isinstance(problem, Ambiguous):
            test.claim(name, what=RELEASED)
        outcome = Outcome.FAILED
        if isinstance(problem, (Refused, Ambiguous)):
            outcome = Outcome.REFUSED if isinstance(problem, Refused) else Outcome.AMBIGUOUS
        keys = [f"{name} {path}" for path in paths]
        _begin(op, names.wait, keys, since)
        test.ledger.end_many(
            names.wait, [(key, int(outcome), None, str(problem)) for key in keys], cause=int(problem.cause)
        )
        raise
    test.claim(name, request.id, REQUEST)
    _begin(op, names.wait, [request.key(path) for path in paths], since)
    return request


def look(op: Op, target: StagingTarget, ledger: Ledger, request: Request, deadline: int | None = None) -> list[Fate]:
    """Poll a request (operation `poll`); return what has become of files since the poll before."""
    files: list[StagedFile] | None = None
    request.polls += 1
    try:
        with op("poll", request.id) as poll:
            poll.calls = 1
            files = target.staged(request.id)
    except NotThere:
        pass
    return request.tell(ledger, files, time.time_ns(), deadline)


def give_up(op: Op, target: StagingTarget, request: Request, fates: Iterable[Fate]) -> None:
    """Cancel what is not awaited any more (operation `cancel`)."""
    if paths := [fate.path for fate in fates if fate.word == UNANSWERED]:
        cancel(op, target, request, paths)


def cancel(op: Op, target: StagingTarget, request: Request, paths: Sequence[str]) -> None:
    """Cancel files of a request (operation `cancel`)."""
    with op("cancel", request.id) as cancelling:
        cancelling.calls = 1
        target.cancel(request.id, paths)


def end(op: Op, test: Test, request: Request, *, release: bool) -> None:
    """Let what has come of a request that is over leave the disk, if wanted (operation `release`, or another name)."""
    if release and (paths := request.delivered):
        with op(request.names.release, request.id) as released:
            released.calls = 1
            test.target.release(request.id, paths)
    test.claim(request.name, request.id, RELEASED)


def _begin(op: Op, name: str, keys: Iterable[str], since: int) -> None:
    for key in keys:
        op.begin(name, key, since)


def _fate(path: str, known: Mapping[str, StagedFile] | None, *, late: bool) -> Fate | None:
    """Return what has become of a file; None: it is awaited, if that is not too `late`."""
    file = None if known is None else known.get(path)
    if file is None:
        return Fate(path, LOST, NO_REQUEST if known is None else FORGOTTEN)
    match file.state:
        case FileState.COMPLETED:
            return Fate(path, DELIVERED)
        case FileState.FAILED:
            return Fate(path, FAILED, file.error or "the library says FAILED, and not why")
        case FileState.CANCELLED:
            return Fate(path, CANCELLED, file.error or "it was cancelled")
    return Fate(path, UNANSWERED, f"still {file.state} at the deadline") if late else None


def _end(ledger: Ledger, name: str, fates: Sequence[tuple[str, Fate]], now: int) -> None:
    """End the operations of files, with one call for each cause."""
    ends: dict[Cause, list[End]] = {}
    for key, fate in fates:
        outcome = OUTCOMES.get(fate.word, Outcome.FAILED)
        ends.setdefault(CAUSES.get(fate.word, Cause.NONE), []).append((key, int(outcome), now, fate.reason))
    for cause, some in ends.items():
        ledger.end_many(name, some, cause=int(cause))
