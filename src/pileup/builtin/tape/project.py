"""Projects that process files from tape, one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pileup.builtin.tape.files import numbered
from pileup.plugin import Count, Failed, Op, Outcome, Size, Test, TimeLaw, VerdictException, option
from pileup.plugin.tape import Stage
from pileup.plugin.units import counted

if TYPE_CHECKING:
    import asyncio


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
    """

    name = "tape.project"
    needs = "tape"

    files: Count = option(10, ge=1, le=100_000, help="files of a project")
    size: Size = option("1 GB", help="bytes of a file")
    work: TimeLaw = option("1 min", help="how long the job works on a file, e.g. `60 s` or `{exponential: 1 min}`")
    ahead: Count = option(1, ge=1, le=100_000, help="files asked for and not yet opened, at most")
    open: Literal["arrival", "order"] = option("arrival", help="open files as they arrive, or in the order of asking")
    together: Count = option(1, ge=1, le=100_000, help="files of a project that lie in one folder, on one cartridge")
    prefix: str = option(
        "",
        pattern=r"^((/[^/\n]+)+)?$",
        help="folder of files with numbers as names, as a real tape system has them: PREFIX/0000000/0000000 and so on, "
        "`together` in a folder; default: /project-0/0/0, which a simulation has",
    )

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
        path = self._path(op.number, number)
        problem = ""
        try:
            with op("file", path) as file:
                file.calls = 1
                await self._recall(op, path)
        except VerdictException as failure:
            problem = str(failure)
        here.put_nowait((number, problem))

    def _path(self, project: int, number: int) -> str:
        if not self.prefix:
            return f"/project-{project}/{number // self.together}/{number}"
        folders = -(-self.files // self.together)  # a folder has files of one project
        return numbered(self.prefix, project * folders * self.together + number, self.together)

    async def _recall(self, op: Op, path: str) -> None:
        """Ask for a file, and record each part of the way until it is there."""
        node = op.client % self.target.nodes
        asked = handed = begun = 0
        try:
            async for step in self.target.recall(node, path, self.size):
                match step.stage:
                    case Stage.ASKED:
                        asked = step.time
                    case Stage.HANDED:
                        handed = step.time
                        op.record("stager_queue", path, start=asked, end=handed, labels={"node": f"n{node}"})
                        op.begin("tape_queue", path, handed)
                    case Stage.BEGUN:
                        begun = step.time
                        self.ledger.end("tape_queue", path, end=begun)
                    case Stage.REQUEUED:
                        self.ledger.end("tape_queue", path, end=step.time)  # where its transfer had not begun
                        op.begin("tape_queue", path, step.time)
                    case Stage.DELIVERED:
                        drive = {"drive": step.drive}
                        op.record("queue_wait", path, start=handed, end=begun, labels=drive)
                        op.record("transfer", path, start=begun, end=step.time, bytes=self.size, labels=drive)
        except VerdictException as failure:
            self.ledger.end("tape_queue", path, Outcome.FAILED, error=str(failure))
            raise
        finally:
            self.ledger.end("tape_queue", path, Outcome.UNFINISHED)  # where it was given up

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Five operations a file, one that is detached, and its bytes."""
        return iterations * self.files * 6, iterations * self.files * self.size
