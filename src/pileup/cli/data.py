"""What commands print with `--json`: the keys and their types, which stay as they are."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ProblemData(TypedDict):
    """One mistake in a suite."""

    code: str
    """What kind of mistake it is: `pileup describe CODE` explains it."""
    what: str
    """What was found."""
    expected: str
    """What was expected; empty where `what` says it."""
    hint: str
    """What to do; may be empty."""
    file: str | None
    """File that it is in; null for a value of `--set`."""
    line: int | None
    """From 1."""
    column: int | None
    """From 1."""
    where: str
    """The same as messages show it: `file:line:column`, or `--set NAME`."""


class NotCoveredData(TypedDict):
    """A part of a suite that cannot be measured on a system that pileup did not start."""

    what: str
    """launch, monitor, fault, setting, test, operation or cooldown."""
    name: str
    reason: str
    whole: bool
    """Whether nothing of it is covered."""


class Validated(TypedDict):
    """Whether a suite is valid, and every mistake where it is not."""

    valid: bool
    suite: str
    """The file."""
    title: str | None
    tests: int
    targets: int
    monitors: int
    criteria: int
    problems: list[ProblemData]
    not_covered: list[NotCoveredData]


class PlannedCase(TypedDict):
    """One case of a plan, in the order of the run."""

    id: int
    name: str
    use: str
    """The test: a name from `pileup list tests`, or ./file.py:Class."""
    target: str | None
    """Its first target."""
    targets: dict[str, str]
    """Word of the test's `needs` -> target, for a test that needs several."""
    load: str
    """In words."""
    after: list[str]
    """Names of cases that must have passed before."""
    beside: list[int]
    """Cases that it runs alongside."""
    point: dict[str, object]
    """Axis of the scan -> value."""
    repeat: int
    loop: int
    expected: int
    """Time to expect, ns."""
    longest: int
    """Longest possible time, ns, every timeout counted."""
    operations: int | None
    """At most; null where there is no bound."""
    bytes: int | None
    """At most; null where there is no bound."""


class PlannedTotals(TypedDict):
    """What a whole plan takes."""

    expected: int
    """Time to expect, ns."""
    longest: int
    """Longest possible time, ns."""
    operations: int | None
    bytes: int | None


class Planned(TypedDict):
    """What a run of a suite would do."""

    title: str
    source: str
    """The file."""
    digest: str
    """SHA-256 of the file and the values set."""
    cases: list[PlannedCase]
    totals: PlannedTotals
    not_covered: list[NotCoveredData]


class Listed(TypedDict):
    """One of what `pileup list` lists; which keys there are depends on the kind."""

    name: str
    about: str
    package: NotRequired[str]
    """Plug-ins: the package that it comes with."""
    available: NotRequired[bool]
    """Plug-ins: whether it can be loaded here; `about` says why not."""
    file: NotRequired[str]
    """Suites: the file."""
    labels: NotRequired[dict[str, str]]
    """Suites, with `--labels`: their labels."""
    verdict: NotRequired[str]
    """Runs: the verdict, or how far the run is."""
    exit_code: NotRequired[int | None]
    """Runs: null before the end."""
    started: NotRequired[int]
    """Runs: ns since the epoch."""
    ended: NotRequired[int | None]
    """Runs: ns since the epoch; null before the end."""
    url: NotRequired[str]
    """Endpoints: where it is."""
    kind: NotRequired[str]
    """Endpoints: what it is."""


class DescribedBlock(TypedDict):
    """A piece of a page: one of a heading, a text, code, or rows of a table."""

    heading: NotRequired[str]
    text: NotRequired[str]
    code: NotRequired[str]
    rows: NotRequired[list[dict[str, str]]]
    """Head of the column -> cell: of options name, type, default, bounds, what."""


class DescribedPage(TypedDict):
    """A page of `pileup describe`."""

    kind: str
    """tests, targets, monitors, ... ; empty for a page about no plug-in."""
    name: str
    title: str
    summary: str
    blocks: list[DescribedBlock]


class Described(TypedDict):
    """The pages of that name: several where plug-ins of several kinds have it."""

    pages: list[DescribedPage]


class UndoneData(TypedDict):
    """One thing that a run has left."""

    what: str
    problem: str | None
    """Why it could not be done; null when it was done, or would be."""


class Cleaned(TypedDict):
    """What `pileup clean` did, or with --dry-run would do."""

    folder: str
    dry_run: bool
    clean: bool
    """Whether nothing is left; with --dry-run whether there is nothing to do."""
    items: list[UndoneData]


class FindingData(TypedDict):
    """Something in a record that is wrong."""

    where: str
    what: str


class Verified(TypedDict):
    """Whether a record is complete and agrees with itself."""

    folder: str
    whole: bool
    findings: list[FindingData]


class MeasuredData(TypedDict):
    """The staging of a case: `figures` are name -> ns."""

    case: str
    limit: int | None
    figures: dict[str, float]


class PredictedData(TypedDict):
    """What is expected at a setting: `figures` are name -> `value`, `low` and `high` in ns."""

    limit: int | None
    drives: int
    figures: dict[str, dict[str, float]]


class Modelled(TypedDict):
    """A queueing model of staging. `busy` is the share of the time in which all drives were at work."""

    drives: int
    busy: float
    known: list[MeasuredData]
    predictions: list[PredictedData]


class WrittenData(TypedDict):
    """What a command has written."""

    files: list[str]


class ConvertedData(TypedDict):
    """A suite in another format."""

    files: list[str]
    """The one that was written."""
    format: str
    """yaml or xml."""
    lost: list[str]
    """What was not carried over, in words: comments, for example."""


class MergedData(TypedDict):
    """Runs as repeats in one record."""

    folder: str
    """The new run folder."""
    runs: list[str]
    """Those that were merged."""


TYPES: tuple[type, ...] = (
    *(Validated, ProblemData, NotCoveredData, Planned, PlannedCase, PlannedTotals, Listed),
    *(Described, DescribedPage, DescribedBlock, Cleaned, UndoneData, Verified, FindingData),
    *(WrittenData, ConvertedData, MergedData, Modelled, MeasuredData, PredictedData),
)
COMMANDS = {
    "validate": "[Validated](#validated); exit code 3 and its `problems` where the suite is not valid",
    "plan": "[Planned](#planned)",
    "list": "an object: kind -> list of [Listed](#listed)",
    "describe": "[Described](#described)",
    "clean": "[Cleaned](#cleaned)",
    "verify": "[Verified](#verified)",
    "show, run, simulate, resume, check, bench": "`folder` and what results.json has: [RunResults](plugin#runresults); "
    "`run`, `resume`, `check` and `bench` add `left` and `stays`, what is still there of what the run has made",
    "report, export, new": "[WrittenData](#writtendata)",
    "convert": "[ConvertedData](#converteddata); OUT is a file then",
    "merge": "[MergedData](#mergeddata)",
    "model": "[Modelled](#modelled)",
    "trace": "`round_trips`, `line`, `sessions`: docs/distance.md",
    "compare": "`verdict`, `baseline`, `against`: docs/compare.md",
}
"""Command -> what it prints."""
