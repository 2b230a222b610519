"""Types of the record: outcomes, phases, sides, frames. Numbers must not change; see docs/record.md."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Outcome(IntEnum):
    """How an iteration or an operation ended. What was due and never started is *missed*: a count, not a row."""

    PASSED = 0
    FAILED = 1
    REFUSED = 2
    AMBIGUOUS = 3
    UNFINISHED = 4
    LOST = 5


OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)
"""Their words, in the order of their numbers. Whatever counts outcomes has a field of each name."""
NOT_PASSED = OUTCOMES[1:]
MISSED = "missed"
OF_DUE = (*OUTCOMES, MISSED)
"""The outcomes of everything that was due."""


class Phase(IntEnum):
    """Part of a case's life by intended start. Only MEASURE enters figures and criteria."""

    SETUP = 0
    RAMP = 1
    WARM_UP = 2
    MEASURE = 3
    COOLDOWN = 4
    CLEANUP = 5


PRESSED = frozenset({Phase.RAMP, Phase.WARM_UP, Phase.MEASURE, Phase.COOLDOWN})
"""Phases of a load's life; set-up and clean-up are apart."""


class Side(IntEnum):
    """Who saw the operation."""

    CLIENT = 0
    SERVER = 1


class CaseOutcome(StrEnum):
    """How a case ended, in words."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_RUN = "not run"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"
    SPARED = "spared"
    """Planned at most, and not needed: the figures were precise before. It is not part of the results."""


PASSED, FAILED, ERROR = CaseOutcome.PASSED, CaseOutcome.FAILED, CaseOutcome.ERROR
NOT_RUN, UNAVAILABLE, UNKNOWN = CaseOutcome.NOT_RUN, CaseOutcome.UNAVAILABLE, CaseOutcome.UNKNOWN
SPARED = CaseOutcome.SPARED

ITERATION = "iteration"
"""Operation name of the parent row when an iteration has several operations."""


SEPARATOR = "\x1f"
"""In texts of the record: between the name of an operation and its labels."""
OTHER_LABELS = "labels=other"
"""Labels of operations whose sets of labels exceed the limit of a case."""


Labels = Mapping[str, str | int | float]
"""Labels as who records gives them."""


def labels_of(text: str) -> dict[str, str]:
    """Return labels by their names, out of `name=value,...` as samples and operations have them."""
    return dict(pair.partition("=")[::2] for pair in text.split(",")) if text else {}


UNRECORDED = -1
Encoded = bytes
"""A histogram (HDR V2), or nothing."""


@dataclass(frozen=True, slots=True)
class FrameRow:
    """Counts of one operation in one phase at one place since its last frame. Counters are increments."""

    operation: str
    iteration: bool
    """Whether these are iterations (rows with parent 0). A one-step test has rows that are both."""
    phase: int
    passed: int
    failed: int
    refused: int
    ambiguous: int
    unfinished: int
    lost: int
    bytes: int
    calls: int
    response: Encoded
    """HDR histogram (V2) of response times in ns, from the intended start, of what passed; empty when nothing did."""
    service: Encoded
    """The same of service times, from the start."""
    timed_out: int = 0
    """Of those that did not pass, how many took at least their timeout."""
    repeated: int = 0
    """Of the calls, how many repeated an earlier one."""
    done: int = UNRECORDED
    """Passed by the time of their end: while the load was in `phase`, whenever they were due."""
    moved: int = UNRECORDED
    """Bytes by the time at which they came: while the load was in `phase`."""
    labels: str = ""
    """As `name=value,...` sorted by name, or empty: there is a row for each set of labels of an operation."""

    def __post_init__(self) -> None:
        """Where it was not recorded when they ended, take what was due in the phase."""
        for name, known in (("done", self.passed), ("moved", self.bytes)):
            if getattr(self, name) == UNRECORDED:
                object.__setattr__(self, name, known)


@dataclass(frozen=True, slots=True)
class Frame:
    """One second of one case at one place."""

    time: int
    """End of the interval, ns since the epoch."""
    nanoseconds: int
    """Length of the interval."""
    place: int
    case: int
    phase: int
    """Phase at the end of the interval."""
    started: int
    missed: int
    in_flight: int
    """Iterations under way at the end of the interval."""
    clients: int
    """Clients that exist at the end of the interval."""
    cpu: int
    """CPU time of the place's process in the interval, ns."""
    late: bytes
    """HDR histogram (V2) of scheduling delays, start - intended, in ns; empty when nothing started."""
    rows: tuple[FrameRow, ...]
    measured_from: int = 0
    """When the load is measured, ns since the epoch: as planned, up to an early stop; 0: not known."""
    measured_to: int = 0
    """0: not known, or no time ends it: then the last end of an iteration does."""


def as_number(value: object, what: str) -> float:
    """Return a number of any kind. Raises TypeError for anything else, a text among them; `what` is named by it."""
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        return float(value)  # type: ignore[arg-type]  # what has no float raises
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what}: expected a number") from None


LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""What a label may be called."""


def labels_text(labels: Labels, told: str) -> str:
    """Return labels as a sample has them. Raises ValueError for what no check selects; `told` names who gave them."""
    for name, value in labels.items():
        text = str(value)
        if not LABEL.fullmatch(name):
            raise ValueError(f"{told}: {name!r} is not a name of a label; expected letters, digits, _ and -")
        if not text.strip() or set(text) & set(",]=") or not text.isprintable() or len(text) > 200:
            raise ValueError(f"{told}: the label {name} is {text!r:.60}; expected a short text without , ] and =")
    return ",".join(f"{name}={str(labels[name]).strip()}" for name in sorted(labels))


@dataclass(frozen=True, slots=True)
class Sample:
    """One number from a monitor. `labels` as `name=value,...` sorted by name, or empty."""

    metric: str
    value: float
    unit: str = ""
    labels: str = ""

    def __post_init__(self) -> None:
        """Refuse what the record cannot hold where it is made, at the line of who made it. Raises TypeError."""
        if type(self.value) is not float:
            told = f"Sample({self.metric!r}, {self.value!r:.100})"
            object.__setattr__(self, "value", as_number(self.value, told))
        for name in ("metric", "unit", "labels"):
            if not isinstance(found := getattr(self, name), str):
                raise TypeError(f"Sample({self.metric!r}, …): {name} is {found!r:.100}; expected a text")


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample in the record: when (ns since the epoch), which monitor, which host."""

    time: int
    monitor: str
    host: str
    sample: Sample
    iteration: int | None = None
    """Number of the iteration that a test reported it in, over the whole case; None for a monitor's."""


Claimed = tuple[int, str, str, str]
"""A submission that a test claims: ns since the epoch, name, id, what."""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A submission as its client knows it: acknowledged with an id, or without an answer (no id)."""

    time: int
    """When it was claimed, ns since the epoch."""
    case: int
    test: str
    target: str
    name: str
    """Name of the job or stage request, which no other has; of a delegation the user."""
    id: str = ""
    what: str = "job"
    """"job"; "delegation" for credentials handed over or renewed, "revoked" for revoked ones; "request" for a stage
    request that is about to be made (no id) or was made, "released" when nothing is left of it."""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """What an audit found about one claim. Times in ns since the epoch, 0: unknown."""

    audit: int
    """Number of the audit in run.json."""
    time: int
    claim: ClaimRow
    fate: str
    """A word of plugin.batch.Fate."""
    jobs: int = 0
    """How many jobs have the name; what follows is of the last of them."""
    state: str = ""
    found: str = ""
    """Its id."""
    reason: str = ""
    submitted: int = 0
    started: int = 0
    ended: int = 0
