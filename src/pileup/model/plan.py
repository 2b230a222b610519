"""The plan of a run: cases in order, with bounds on time, operations and bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

from pileup.model.loads.load import Load
from pileup.model.loads.starts import Starts
from pileup.model.not_covered import Uncovered
from pileup.model.suite import Suite, TestSpec

WHOLE = -1
"""Visit of what is done once for all points."""


@dataclass(frozen=True, slots=True)
class Case:
    """A test at one point of the scan in one repeat. `test` has the options and the load that it has at that point."""

    id: int
    """1 for the first; 0 is never a case."""
    name: str
    """Unique in the run: the test's name, with point, repeat and loop where there are several."""
    test: TestSpec
    after: tuple[int, ...] = ()
    """Ids of the cases that must have passed."""
    beside: tuple[int, ...] = ()
    """Ids of the cases that it runs alongside: then it is a role, which begins and ends with them."""
    loop: int = 1
    repeat: int = 1
    visit: int = WHOLE
    """Which visit to a point it belongs to, counted over the whole run; WHOLE when it is done once for all of them."""
    point: dict[str, str] = field(default_factory=dict)
    """Axis of the scan -> value, as written; empty for what is done once for all points."""
    settings: dict[str, dict[str, object]] = field(default_factory=dict)
    """Target -> settings that it must have meanwhile, as written."""
    longest: int = 0
    """Longest possible time, ns: delay, ramp, warm-up, measurement and the time-outs of what may be under way."""
    expected: int = 0
    """Time that it is expected to take, ns: delay, ramp, warm-up, measurement, and a usual time for operations."""
    operations: int | None = None
    """Largest number of operations, None when the load does not bound it."""
    bytes: int | None = None
    """Largest number of bytes moved, None when the load does not bound it."""
    replay: Starts | None = None
    """What of a record the load replays."""

    @property
    def asked(self) -> float | None:
        """Iterations begun per second that an open load asks for, in the mean over what is measured."""
        return self.replay.asked if self.replay else self.load.asked

    @property
    def load(self) -> Load:
        """How the case is pressed."""
        return self.test.load

    @property
    def role(self) -> bool:
        """Whether it runs alongside others."""
        return bool(self.test.with_)


@dataclass(frozen=True, slots=True)
class Totals:
    """What a plan takes: the time to expect, and the most of everything. None where a case has no bound."""

    expected: int
    """Time to expect, ns."""
    longest: int
    """Longest possible time, ns, with every time-out that may pass."""
    operations: int | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """A suite ready to run: `source` is the file, `values` what --set gave, `text` the suite with secrets hidden."""

    suite: Suite
    cases: tuple[Case, ...]
    source: str
    text: str
    digest: str
    """SHA-256 of the file's bytes and the values set, hexadecimal."""
    folder: str
    """Folder of the suite file: relative paths of plug-ins and files start here."""
    values: dict[str, str] = field(default_factory=dict)
    points: tuple[dict[str, str], ...] = ()
    """Points of the scan, axis -> value as written; a suite without a scan has none."""
    together: tuple[tuple[str, ...], ...] = ()
    """Axes that are varied together, group by group."""
    uncovered: tuple[Uncovered, ...] = ()
    """Parts of the suite that do not apply to targets that pileup did not start."""

    own: dict[str, str] = field(default_factory=dict)
    """Target -> the folder of the run's own there, relative to its url; known when the plan is run."""

    def case(self, number: int) -> Case:
        """Return the case with that id."""
        return self.cases[number - 1]

    def totals(self) -> Totals:
        """Return the sums over the cases, and the cool-downs after points; roles take no time of their own.

        No time is longer than the limit of the suite on its duration.
        """
        cooldown, most = self.suite.cooldown, self.suite.limits.duration
        longest = cooldown.at_most * len({case.visit for case in self.cases} - {WHOLE}) if cooldown else 0
        expected = longest // 2 if cooldown and cooldown.until else longest
        expected += sum(case.expected for case in self.cases if not case.role)
        longest += sum(case.longest for case in self.cases if not case.role)
        return Totals(
            expected=expected if most is None else min(expected, most),
            longest=longest if most is None else min(longest, most),
            operations=_total([case.operations for case in self.cases]),
            bytes=_total([case.bytes for case in self.cases]),
        )


def _total(parts: list[int | None]) -> int | None:
    return None if None in parts else sum(part or 0 for part in parts)
