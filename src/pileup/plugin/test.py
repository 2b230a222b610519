"""A test does one thing to a target and says passed or failed, with a reason."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pileup.model.answers import ANSWER, MOST_TOLD, answer_of, file_of
from pileup.model.check import FIELDS
from pileup.model.errors import Failed
from pileup.model.record import Sample, as_number, labels_text
from pileup.model.shared import SharedData
from pileup.plugin.coordinator import Answered, Coordinator, Plain
from pileup.plugin.operation import Ledger, Op
from pileup.plugin.options import assign
from pileup.plugin.sessions.span import EngineSessions

if TYPE_CHECKING:
    from pileup.model.loads.load import Load
    from pileup.model.program import Program
    from pileup.plugin.target import Target


class Asker(Protocol):
    """The way from one client to the coordinator of its test."""

    def ask(self, told: Plain, blob: bytes, *, later: bool = False) -> Future[Answered]:
        """Ask, and return what gets the answer; `later` leaves the sending to `send`."""

    def send(self) -> None:
        """Send what was asked and left."""


def _nowhere() -> Path:
    raise RuntimeError("there is no folder for artefacts yet; expected `setup`, `run` or `teardown` of a client")


@dataclass(frozen=True, slots=True)
class Context:
    """What a test can know about its case."""

    name: str = "test"
    """Name of the test in the suite."""
    load: Load | None = None
    """Its load in the suite."""
    seed: int = 1
    """Seed of the suite, the same for all clients; `random` differs by client."""
    timeout: int = 60 * 10**9
    """The timeout of an iteration, ns."""
    folder: Path = Path()
    """Folder of the suite file."""
    client: int = 0
    """Number of the client that this instance belongs to."""
    own: str = ""
    """The run's own folder on the target, relative to its url, for everything that a test makes; empty if the whole
    target is the run's own.
    """
    owns: Mapping[str, str] = field(default_factory=dict)
    """The same for each target of the suite, by its name, and by the words of `needs` if a test has several."""
    point: Mapping[str, str] = field(default_factory=dict)
    """Values of the scan, axis -> value as written; empty for a case that serves all points."""
    repeat: int = 1
    """Which repeat of its point it is, from 1."""
    place: int = 0
    """Number of the place that runs this client, as in the record."""
    place_name: str = ""
    """Name of that place: `local`, `process 1`, or the host as in the suite."""
    keep_in: Callable[[], Path] = _nowhere
    """Makes the folder for artefacts."""
    compared: bool = False
    """Whether the suite compares its answers with those of other tests (`equivalent`)."""

    _random: list[Random] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def random(self) -> Random:
        """Random numbers of this client: the same in every run of the suite, at every point, in every repeat."""
        if not self._random:
            self._random.append(Random(f"{self.seed} {self.name} {self.client}"))
        return self._random[0]

    @property
    def artefacts(self) -> Path:
        """A folder for files to keep with the case, the same for all clients of a load at a place.

        When the load has ended its files are copied into the record: plain files, at most 1000 files and 64 MiB per
        load and place. Raises RuntimeError before there are clients.
        """
        return self.keep_in()

    @property
    def sustained(self) -> bool:
        """Whether the load lasts for a time or has several clients, rather than being a single check."""
        return self.load is not None and self.load.sustained


class Test:
    """Base of all tests. Options are annotated fields; the docstring is the test's page.

    Define either `run(self, op)` (plain or async; one iteration) or `program(self)` (steps for the native engine).
    One instance is made for every client: `setup` and `teardown` run once per client, and are not timed. Both may be
    async if `run` is, and then run on its event loop.
    """

    _framework: ClassVar[bool] = True
    __test__: ClassVar[bool] = False  # pytest collects its own tests only
    needs: ClassVar[str | Mapping[str, str]] = ""
    """What kind of target it needs: "" none, "any", "files" (a FileTarget), "http", "connection" (a target
    that is `relayed`), or the name of a kind. Of several: a word for each and what it must be, `{"source": "files",
    "to": "files"}`; the first is the main one."""
    name: ClassVar[str] = ""
    """Name under which it is registered."""
    leaves: ClassVar[frozenset[str]] = frozenset()
    """Kinds of claims that may remain on the target after a crash: "job", "delegation", "request"."""

    waits: bool = False
    """Whether an iteration only waits for the system: it is ended at once when the run is stopped."""

    target: Any
    """The target, None for a test that needs none; one object, shared by the threads of all clients."""
    targets: Mapping[str, Any]
    """Its targets by the words of `needs`, if it needs several."""
    context: Context
    """About the case and this client."""
    under_way: Op | None = None
    """The iteration that this client has begun last; set by the harness."""
    reporter: Callable[[Sample, int], None] | None
    """Gets the numbers of `report`; set by the harness."""
    claimer: Callable[[str, str, str], None] | None
    """Gets the submissions of `claim`; set by the harness."""
    asker: Asker | None
    """The way of `ask`, None where nothing answers; set by the harness before `setup`."""
    stamp: str
    """Names that contain it are unique over all runs; set by the harness, the same for all clients of a load."""
    shared: SharedData
    """What `begin_run` returned: the same for all clients at all places, read-only."""
    ledger: Ledger
    """The open detached operations at this place; set by the harness before `setup`."""
    engine_sessions: EngineSessions
    """Makes sessions of the engine apart from the load, for tests that trace them; set by the harness before `setup`.
    """

    def __init__(self, target: Target | None = None, context: Context | None = None, **options: Any) -> None:
        self.target = target
        self.targets = {}
        self.shared = SharedData()
        self.context = context or Context()
        self.reporter = None
        self.claimer = None
        self.asker = None
        self.stamp = secrets.token_hex(5)
        self._answers: set[int] = set()
        assign(self, options)
        self.check()

    @property
    def iteration(self) -> int:
        """Number of the iteration under way over the whole case; -1 before the first one."""
        return -1 if self.under_way is None else self.under_way.number

    def check(self) -> None:
        """Refuse options that contradict each other: raise ValueError."""

    def begin_run(self) -> Mapping[str, object] | None:
        """Prepare once in a run, where pileup was started, before any client of the test; may be `async`.

        What it returns, plain data of at most 1 MiB as JSON, is `self.shared` of every client at every place. If it
        raises, the set-up of the test has failed, with the reason. It is called again for other options or targets of a
        scan, and by `pileup resume`.
        """
        return None

    def end_run(self) -> None:
        """Clean up after `begin_run`, on the same object, after all clients, however the run ends; may be `async`."""

    def coordinator(self) -> Coordinator | None:
        """Return what answers the `ask` of all clients at all places, once for each load; None: nothing does.

        It is called, on an instance of its own, where pileup was started, with the target open.
        """
        return None

    def setup(self) -> object:
        """Prepare this client's iterations; not timed. May be `async`, as `run`."""

    def run(self, op: Op) -> object:
        """Do one iteration. Return nothing; raise Failed, Refused or Ambiguous, or use `expect`. May be `async`."""
        raise NotImplementedError

    def program(self) -> Program:
        """Return the steps of one iteration for the native engine, instead of `run`."""
        raise NotImplementedError

    def prepare(self) -> Program | None:
        """Return steps to run once before the load (such as making folders), or None."""
        return None

    def cleanup(self) -> Program | None:
        """Return steps that remove what this test has made, run once at the end of the run, or None."""
        return None

    def teardown(self) -> object:
        """Release what `setup` acquired. May be `async`, as `run`."""

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Return the largest number of (operations, bytes) that many iterations can make; None where unknown."""
        return None, None

    def remarks(self) -> list[str]:
        """Return remarks on this test that readers of the figures must know; each is reported once in a run."""
        return []

    def problem_on(self, target: Target) -> str:
        """Return why this test cannot run with its options on a target, as "what; expected what"; empty if it can.

        Called when a suite is checked, for its only or first target, whose address may not be known then.
        """
        return ""

    def lacks(self) -> str:
        """Return which options cannot be followed on this target, and what is done instead; empty if all can.

        Criteria on the test are then partly covered.
        """
        return ""

    def expect(self, condition: object, message: str) -> None:
        """Fail the iteration with `message` unless `condition` is true."""
        if not condition:
            raise Failed(message)

    def report(self, metric: str, value: float, unit: str = "", **labels: str | int | float) -> None:
        """Record a number as a sample `TEST.METRIC` on the time axis of the run.

        With labels checks select it as `TEST.METRIC[drive=d3]`; the number of the iteration is recorded too. Raises
        TypeError for a value that is not a number, ValueError for the name of a field of checks (`failed`) and for
        labels that no check could select.
        """
        told = f"report({metric!r}, {value!r:.100})"
        number = as_number(value, told)
        words: tuple[object, object] = (metric, unit)
        if not all(isinstance(each, str) for each in words):
            raise TypeError(f"{told}: expected texts as name and unit")
        if metric in FIELDS:
            raise ValueError(f"{told}: checks know {metric!r} as a field of every test; expected another name")
        named = labels_text(labels, told) if labels else ""
        if self.reporter is not None:
            self.reporter(Sample(metric, number, unit, named), self.iteration)

    def answer(self, rows: Iterable[object], ordered: bool = False) -> None:
        """Record the answer of this iteration, for tests whose answers must be equal (`equivalent` in the suite).

        A digest of the rows is kept, independent of their order unless `ordered`, and of each different answer the rows
        as text, as an artefact of the case; both only if the suite compares answers. Rows of more than 10,000 or of
        more than 1 MiB are not kept.
        """
        if not self.context.compared:
            return
        found = answer_of(rows, ordered)
        if found.digest not in self._answers and len(self._answers) < MOST_TOLD:
            self._answers.add(found.digest)
            self.report(ANSWER, float(found.digest))
            path = self.context.artefacts / file_of(found.digest)
            with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
                file.write(found.to_json())  # another client of this place may have had the same

    def ask(self, told: Plain, blob: bytes = b"") -> Answered:
        """Ask the `coordinator` and wait for its answer; from `setup` to `teardown`.

        A question is plain data (JSON). Raises Failed when there will be no answer.
        """
        return self._asker.ask(told, blob).result()

    async def ask_async(self, told: Plain, blob: bytes = b"") -> Answered:
        """Do the same in a test whose `run` is async; what clients ask in one turn of the loop goes together."""
        import asyncio  # noqa: PLC0415  slow to import, and who lists plug-ins needs none

        answer = asyncio.wrap_future(self._asker.ask(told, blob, later=True))
        asyncio.get_running_loop().call_soon(self._asker.send)
        return await answer

    @property
    def _asker(self) -> Asker:
        if self.asker is None:
            raise Failed("nothing answers this test", "a coordinator", "return one from its `coordinator`")
        return self.asker

    def claim(self, name: str, id: str = "", what: str = "job") -> None:
        """Record that a job of this name was submitted to the target, with its id, or "" if no answer came.

        The fate of each job is looked up in queue and history after faults and at the end of the run (docs/batch.md).
        Delegations, which stay on a target until they are revoked, are recorded in the same way, for `pileup clean`:
        `what` is "delegation" (name: the user) for a new or renewed one, "revoked" for a revoked one.

        Stage requests are claimed as "request" before they are made (without an id) and when their id is known, and as
        "released" when the system does not keep anything for them; their names begin with `stamp`. These are in the
        record when this returns. What is not released is deleted at the end of the run, or by `pileup clean`.
        """
        if self.claimer is not None:
            self.claimer(name, id, what)

    def submits(self, number: int) -> Sequence[str]:
        """Return the names that iteration `number` may submit, made with `stamp`; nothing for a test without jobs.

        `pileup clean` looks for these after a crash, since claims of the last second may be missing.
        """
        return ()

    @classmethod
    def native(cls) -> bool:
        """Whether the engine runs this test from its program."""
        return cls.program is not Test.program


def needs_of(cls: type[Test]) -> dict[str, str]:
    """Return what the targets of a test must be, by its words for them; "" if there is only one."""
    return {"": cls.needs} if isinstance(cls.needs, str) and cls.needs else dict(cls.needs or {})
