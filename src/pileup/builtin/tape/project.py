"""Projects that process files from tape, one after another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from pileup.builtin.tape.files import listed_beside, numbered
from pileup.builtin.tape.requests import RELEASED, REQUEST
from pileup.plugin import Count, Failed, Ledger, Op, Outcome, Size, Test, TimeLaw, VerdictException, option
from pileup.plugin.tape import Stage, StagingTarget, Step
from pileup.plugin.units import counted

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable


class FileWaits:
    """A file on its way: each part of it is recorded when that has ended."""

    def __init__(self, op: Op, ledger: Ledger, key: str, size: int) -> None:
        self.key = key
        self._op, self._ledger, self._size = op, ledger, size
        self._at: dict[Stage, int] = {}

    def take(self, step: Step, node: int) -> None:
        """Note that it has come to a stage."""
        at, op = self._at, self._op
        match step.stage:
            case Stage.HANDED:
                labels = {"node": f"n{node}"}
                op.record("stager_queue", self.key, start=at[Stage.ASKED], end=step.time, labels=labels)
                op.begin("tape_queue", self.key, step.time)
            case Stage.BEGUN:
                self._ledger.end("tape_queue", self.key, end=step.time)
            case Stage.REQUEUED:
                self._ledger.end("tape_queue", self.key, end=step.time)  # where its transfer had not begun
                op.begin("tape_queue", self.key, step.time)
            case Stage.CACHED:
                self._came(step)
            case Stage.DELIVERED if Stage.CACHED in at or Stage.FOUND in at:
                self._copied(step)
            case Stage.DELIVERED:
                self._came(step)
        at[step.stage] = step.time

    def _came(self, step: Step) -> None:
        """It has come from tape."""
        at, drive = self._at, {"drive": step.drive}
        self._op.record("queue_wait", self.key, start=at[Stage.HANDED], end=at[Stage.BEGUN], labels=drive)
        begun = at[Stage.BEGUN]
        self._op.record("transfer", self.key, start=begun, end=step.time, bytes=self._size, labels=drive)

    def _copied(self, step: Step) -> None:
        """It has come from a cache."""
        at = self._at
        how = "miss" if Stage.CACHED in at else "shared" if Stage.SHARED in at else "hit"
        moved = 0 if how == "miss" else self._size  # each file counts once: a miss where it came from tape
        self._op.record(how, self.key, start=at[Stage.ASKED], end=step.time, bytes=moved)
        self._op.record("copy", self.key, start=at.get(Stage.CACHED, at.get(Stage.FOUND, 0)), end=step.time)


class TapeProject(Test):
    """Run a project: ask for files on tape, and process each when it is there.

    One iteration is one project with one job. It asks its stager for `ahead` files, and for another one each time that
    it opens one. It opens them as they arrive, or in the order in which it asked (`open`), and works on each for a time
    of the law `work`. Client 0 is at worker node 0, client 1 at node 1, …, and round again.

    For each file `stager_queue` is the time from the request until it is handed to the tape library (label `node`),
    `queue_wait` from there until its transfer begins, `transfer` until it is there (label `drive`), `file` all of it.
    `idle` is the time for which the process waits for a file that it could open, whichever queue that is in; `work`
    is the time that it works. A request in the library is also a detached operation `tape_queue` until its transfer
    begins, so that the length of that queue is recorded. A file that does not come fails, and the project with it, when
    it has done the others.

    With a cache, the time from the request until the file is there is also a `hit`, a `miss`, or `shared`: it waited
    for what another project had asked for. `copy` is the time from when the cache has it. The bytes of a file are those
    of its `transfer`, `hit` or `shared`.

    A project asks for files of its own: after the last one of `paths` the first ones come again.
    """

    name = "tape.project"
    needs = "tape"
    leaves = frozenset({REQUEST})

    files: Count = option(10, ge=1, le=100_000, help="files of a project")
    size: Size = option("1 GB", help="bytes of a file")
    work: TimeLaw = option("1 min", help="how long the job works on a file, e.g. `60 s` or `{exponential: 1 min}`")
    ahead: Count = option(1, ge=1, le=100_000, help="files asked for and not yet opened, at most")
    open: Literal["arrival", "order"] = option("arrival", help="open files as they arrive, or in the order of asking")
    together: Count = option(
        1, le=100_000, help="files of a project that lie in one folder, on one cartridge; 0: no folders, with `prefix`"
    )
    prefix: str = option(
        "",
        pattern=r"^((/[^/\n]+)+)?$",
        help="folder of files with numbers as names, as a practice tape library has them: PREFIX/0000000/0000000 and "
        "so on, `together` in a folder; default: /project-0/0/0, which a simulation has",
    )
    paths: str = option("", help="file with the paths of files on tape instead, one in each line, beside the suite")
    sets: Count = option(0, le=10**6, help="different sets of files, which projects take in turn; 0: each has its own")

    def check(self) -> None:
        """Refuse a list that cannot be read, and files without folders that have no names."""
        self._listed = listed_beside(self.context.folder, self.paths)
        if not (self.together or self.prefix or self.paths):
            raise ValueError("together 0 without a prefix; expected `prefix`, such as /tape")

    async def run(self, op: Op) -> None:
        """Process the files of one project."""
        import asyncio  # noqa: PLC0415  the list of plug-ins does without it

        here: asyncio.Queue[tuple[int, str]] = asyncio.Queue()
        tasks: list[asyncio.Task[None]] = []

        def ask() -> None:
            if len(tasks) < self.files:
                tasks.append(asyncio.create_task(self._fetch(op, len(tasks), here)))

        early: dict[int, str] = {}
        problems = []
        try:
            for _ in range(self.ahead):
                ask()
            for turn in range(self.files):
                with op("idle", str(turn)):
                    number, problem = await self._next(turn, here, early)
                ask()
                if problem:
                    problems.append(problem)
                    continue
                with op("work", str(number)):
                    await asyncio.sleep(self.work.draw(self.context.random) / 1e9)
            await asyncio.gather(*tasks)  # requests of files that have come may be under way to be released
        finally:
            for task in tasks:
                task.cancel()
        if problems:
            raise Failed(f"{counted(len(problems), 'file')} of {self.files} did not come: {problems[0]}")

    async def _next(self, turn: int, here: asyncio.Queue[tuple[int, str]], early: dict[int, str]) -> tuple[int, str]:
        """Return the file to open next, and why it did not come; `early` keeps those that are there too early."""
        if self.open == "arrival":
            return await here.get()
        while turn not in early:
            number, problem = await here.get()
            early[number] = problem
        return turn, early.pop(turn)

    async def _fetch(self, op: Op, number: int, here: asyncio.Queue[tuple[int, str]]) -> None:
        owner = op.number % self.sets if self.sets else op.number
        path = self._path(owner, number)
        key, problem = f"{path}@{op.number}" if self.sets or self._listed else path, ""
        claim = partial(self.claim, f"{self.stamp}-{op.number}-{number}")
        if isinstance(self.target, StagingTarget):
            claim(what=REQUEST)
        node = op.client % self.target.nodes
        steps = self.target.recall(node, path, self.size)
        try:
            with op("file", key) as file:
                file.calls = 1
                await self._recall(steps, node, FileWaits(op, self.ledger, key, self.size), claim)
        except VerdictException as failure:
            problem = str(failure)
        here.put_nowait((number, problem))
        async for step in steps:
            if step.stage is Stage.RELEASED:
                claim(what=RELEASED)

    def _path(self, project: int, number: int) -> str:
        if self._listed:
            return self._listed[(project * self.files + number) % len(self._listed)]
        if not self.prefix:
            return f"/project-{project}/{number // self.together}/{number}"
        # a folder has files of one project
        room = -(-self.files // self.together) * self.together if self.together else self.files
        return numbered(self.prefix, project * room + number, self.together)

    async def _recall(
        self, steps: AsyncIterator[Step], node: int, file: FileWaits, claim: Callable[[str, str], None]
    ) -> None:
        """Record each part of the way of a file until it is there."""
        try:
            async for step in steps:
                if step.request:
                    claim(step.request, REQUEST)
                file.take(step, node)
                if step.stage is Stage.DELIVERED:
                    return
        except VerdictException as failure:
            self.ledger.end("tape_queue", file.key, Outcome.FAILED, error=str(failure))
            raise
        finally:
            self.ledger.end("tape_queue", file.key, Outcome.UNFINISHED)  # where it was given up

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Eight operations a file, one that is detached, and its bytes."""
        return iterations * self.files * 9, iterations * self.files * self.size
