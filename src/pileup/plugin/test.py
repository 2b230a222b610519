"""A test does one thing to a target and says passed or failed, with a reason."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from pileup.model.answers import ANSWER, MOST_TOLD, digest_of
from pileup.model.check import FIELDS
from pileup.model.errors import Failed
from pileup.model.record import Sample, as_number, labels_text
from pileup.model.shared import SharedData
from pileup.plugin.operation import Ledger, Op
from pileup.plugin.options import assign

if TYPE_CHECKING:
    from pileup.model.loads.load import Load
    from pileup.model.program import Program
    from pileup.plugin.target import Target


def _nowhere() -> Path:
    raise RuntimeError("there is no folder for artefacts yet; expected `setup`, `run` or `teardown` of a client")


@dataclass(frozen=True, slots=True)
class Context:
    """What a test may know of its case."""

    name: str = "test"
    """Name of the test in the suite."""
    load: Load | None = None
    """Its load in the suite."""
    seed: int = 1
    """Seed of the suite, the same for all clients; `random` differs by client."""
    timeout: int = 60 * 10**9
    """What an iteration may take, ns."""
    folder: Path = Path()
    """Folder of the suite file."""
    client: int = 0
    """Number of the client that this instance belongs to."""
    own: str = ""
    """The folder of the run's own on the target, relative to its url, where what a test makes has its place; empty for
    a target that is the run's own as a whole."""
    owns: Mapping[str, str] = field(default_factory=dict)
    """The same for each target of the suite, by its name, and by the words of `needs` of a test with several."""
    point: Mapping[str, str] = field(default_factory=dict)
    """Values of the scan, axis -> value as written; empty for what is done once for all points."""
    repeat: int = 1
    """Which repeat of its point it is, from 1."""
    place: int = 0
    """Number of the place that presses this client, as in the record."""
    place_name: str = ""
    """What people call it: `local`, `process 1`, or the host as the suite has it."""
    keep_in: Callable[[], Path] = _nowhere
    """Makes the folder for artefacts."""
    compared: bool = False
    """Whether the suite says that its answers must be equal to those of other tests (`equivalent`)."""

    _random: list[Random] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def random(self) -> Random:
        """Random numbers of this client alone: the same in every run of the suite, at every point, in every repeat."""
        if not self._random:
            self._random.append(Random(f"{self.seed} {self.name} {self.client}"))
        return self._random[0]

    @property
    def artefacts(self) -> Path:
        """A folder for files to be kept with the case, the same for all clients of a load at a place.

        What is in it when the load has ended is in the record: plain files, at most 1000 and 64 MiB of a load at a
        place. Raises RuntimeError before there are clients.
        """
        return self.keep_in()

    @property
    def sustained(self) -> bool:
        """Whether the load presses for a time or with several clients, rather than running a check."""
        return self.load is not None and self.load.sustained


class Test:
    """Base of all tests. Options are annotated fields; the docstring is the test's page.

    Define either `run(self, op)` (plain or async; one iteration) or `program(self)` (steps for the native engine).
    One instance is made for every client: `setup` and `teardown` run once in its life, outside the clock. Both may be
    async where `run` is, and run on its event loop.
    """

    _framework: ClassVar[bool] = True
    __test__: ClassVar[bool] = False  # pytest collects its own tests only
    needs: ClassVar[str | Mapping[str, str]] = ""
    """What kind of target it needs: "" none, "any", "files" (a FileTarget), "http", or the name of a kind. Of several:
    a word for each and what it must be, `{"source": "files", "to": "files"}`; the first is the one it is about."""
    name: ClassVar[str] = ""
    """Name under which it is registered."""
    leaves: ClassVar[frozenset[str]] = frozenset()
    """What it claims that may be left on the target after a crash: "job", "delegation"."""

    waits: bool = False
    """Whether an iteration does nothing but wait for the system: when the run is stopped it is not awaited."""

    target: Any
    """The target as its class made it, None for a test that needs none; one object for the threads of all clients."""
    targets: Mapping[str, Any]
    """Its targets by the words of `needs`, where it needs several."""
    context: Context
    """What is known of the case and of this client."""
    under_way: Op | None = None
    """The iteration that this client has begun last; set by the harness."""
    reporter: Callable[[Sample, int], None] | None
    """Where `report` hands its numbers; set by the harness."""
    claimer: Callable[[str, str, str], None] | None
    """Where `claim` hands its submissions; set by the harness."""
    stamp: str
    """Names made with it are no other's, in this run or any other; the harness gives all clients of a load the same."""
    shared: SharedData
    """What `begin_run` returned: the same for all clients at all places, and not to be changed."""
    ledger: Ledger
    """Detached operations that are open at this place; set by the harness before `setup`."""

    def __init__(self, target: Target | None = None, context: Context | None = None, **options: Any) -> None:
        self.target = target
        self.targets = {}
        self.shared = SharedData()
        self.context = context or Context()
        self.reporter = None
        self.claimer = None
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
        """Make ready once in a run, where pileup was started, before any client of the test; may be `async`.

        What it returns, plain data of at most 1 MiB as JSON, is `self.shared` of every client at every place. When it
        raises, the set-up of the test has failed, with the reason. With other options or targets of a scan it is called
        again, and so it is by `pileup resume`.
        """
        return None

    def end_run(self) -> None:
        """End what `begin_run` began, on the same object, after all clients, however the run ends; may be `async`."""

    def setup(self) -> object:
        """Make ready for this client's iterations; what it takes is not measured. May be `async`, as `run`."""

    def run(self, op: Op) -> object:
        """Do one iteration. Return nothing; raise Failed, Refused or Ambiguous, or use `expect`. May be `async`."""
        raise NotImplementedError

    def program(self) -> Program:
        """Return the steps of one iteration for the native engine, instead of `run`."""
        raise NotImplementedError

    def prepare(self) -> Program | None:
        """Return steps to be done once before the load (folders to make), or None."""
        return None

    def cleanup(self) -> Program | None:
        """Return steps that remove what this test has made, done once at the end of the run, or None."""
        return None

    def teardown(self) -> object:
        """Give back what `setup` took. May be `async`, as `run`."""

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Return the largest number of (operations, bytes) that many iterations can make; None where unknown."""
        return None, None

    def remarks(self) -> list[str]:
        """Return what a reader of the figures must know of this test on its target; each is reported once in a run."""
        return []

    def lacks(self) -> str:
        """Return what is not as the options say on this target, and what is done instead; empty when all is.

        Criteria on the test are covered in part then.
        """
        return ""

    def expect(self, condition: object, message: str) -> None:
        """Fail the iteration with `message` unless `condition` is true."""
        if not condition:
            raise Failed(message)

    def report(self, metric: str, value: float, unit: str = "", **labels: str | int | float) -> None:
        """Keep a number that this test found, as a sample `TEST.METRIC` on the time axis of the run.

        With labels checks select it as `TEST.METRIC[drive=d3]`; the number of the iteration is kept beside it. Raises
        TypeError for what is not a number, ValueError for a name that checks have a meaning for (`failed`), and for
        labels         that no check could select.
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
        """Say what this iteration was answered, for tests that must give equal answers (`equivalent` in the suite).

        What is kept is a digest of the rows, in any order unless `ordered`; nothing where no suite compares.
        """
        if not self.context.compared:
            return
        found = digest_of(rows, ordered)
        if found not in self._answers and len(self._answers) < MOST_TOLD:
            self._answers.add(found)
            self.report(ANSWER, float(found))

    def claim(self, name: str, id: str = "", what: str = "job") -> None:
        """Keep that a job of this name was submitted to the target, acknowledged with an id or without an answer.

        What became of each is looked up in queue and history after faults and at the end of the run (docs/batch.md).
        Other things that stay on a target until they are taken away are kept the same way, for `pileup clean`: `what`
        is "delegation" (name: the user) for one handed over or renewed, "revoked" for one taken back.
        """
        if self.claimer is not None:
            self.claimer(name, id, what)

    def submits(self, number: int) -> Sequence[str]:
        """Return the names that iteration `number` may submit, made with `stamp`; nothing for a test without jobs.

        `pileup clean` looks for these after a crash: what was submitted in the last second was not claimed any more.
        """
        return ()

    @classmethod
    def native(cls) -> bool:
        """Whether the engine runs this test from its program."""
        return cls.program is not Test.program


def needs_of(cls: type[Test]) -> dict[str, str]:
    """Return what the targets of a test must be, by its words for them: "" is that for the only one."""
    return {"": cls.needs} if isinstance(cls.needs, str) and cls.needs else dict(cls.needs or {})
