"""Pages about the language of suites: its words, checks and metrics, units, verdicts and exit codes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator

from pileup.cli.pages.models import sections
from pileup.cli.pages.page import Block, Code, Heading, Page, Table, Words
from pileup.cli.pages.paragraphs import cells, parts
from pileup.model.check import COMPARISONS, FIELDS, FUNCTIONS
from pileup.model.exits import PRECEDENCE, ExitCode
from pileup.model.law import Law
from pileup.model.record import NOT_PASSED, Outcome
from pileup.model.suite import Suite
from pileup.model.units import DIMENSIONS
from pileup.model.verdict import Verdict

FUNCTION_WORDS = {
    "count": "how many; of a monitor's metric: how many samples",
    "rate": "what passed, or the bytes that came, in the measured time, by that time",
    "fraction": "share of all that ended; of `missed`: of all that was due",
    "sum": "of bytes, calls, outcomes, numbers that a test reported, or samples",
    "mean": "arithmetic mean",
    "min": "the smallest",
    "max": "the largest",
    "first": "the first sample",
    "last": "the last sample",
    "width": "the largest less the smallest",
    "slope": "how fast samples grow, by time: `slope(pileup.rss_anon) < 1 MiB/h`; those of a number `< 1 /h`",
}
FIELD_WORDS = {
    "response": "the default: time from when an iteration was due (an operation: from its start) to its end; "
    "percentiles are over all that was due, what did not pass is slower than any; "
    "mean, min, max and sum are of what passed",
    "service": "the same from when it really started, over all that was begun",
    "passed_response": "response times of what passed alone",
    "passed_service": "service times of what passed alone",
    "bytes": "moved",
    "calls": "requests made",
    "missed": "due before the end of the load and never started; iterations only",
}
FAULT_NUMBERS = {
    "recovery": "for how long the system was away after the fault; also `TEST.recovery`, all faults together",
    "jobs_again": "time from the fault to the first job that began to run once it was undone",
    ", ".join(NOT_PASSED): "iterations that ended so, until the next fault",
    "forgotten": "acknowledged jobs that were lost between the audits before and after the fault",
    "forgotten_share": "their share of what was acknowledged between those audits, %",
}
OUTCOME_WORDS = {
    "passed": "it did what it should",
    "failed": "the system did the wrong thing, or the test raised",
    "refused": "the system refused: full, busy, not allowed",
    "ambiguous": "no answer in time: it may have happened",
    "unfinished": "still going on at the end of the load or of the run",
    "lost": "the place that pressed it vanished",
}
CASE_WORDS = {
    "passed": "a check: every iteration passed; a sustained load: at least 99 % of what was due passed, or `fail_when` "
    "does not hold",
    "failed": "an iteration of a check did not pass; or under a load nothing passed, more than 1 % of what was due did "
    "not pass, or `fail_when` holds, which takes the place of that 1 %",
    "error": "the test could not be set up, or pileup could not press it",
    "not run": "a test in its `after` has not passed, or the run ended before",
    "unavailable": "its target could not be reached, or its plug-in cannot be loaded here",
    "unknown": "nothing was measured",
}
CRITERION_WORDS = {
    Verdict.MET: "the figure meets the check, and so does its whole interval; in a scan at every point (or those of "
    "`at`)",
    Verdict.MET_NOT_SHOWN: "the figure meets it, its interval does not",
    Verdict.NOT_MET: "neither the figure nor any part of its interval meets it",
    Verdict.NOT_MET_NOT_SHOWN: "the figure does not meet it, a part of its interval does",
    Verdict.UNKNOWN: "too few values, a percentile that is only known to be larger than something, or pileup was the "
    "bottleneck",
    Verdict.NOT_COVERED: "what it needs was not there, or it has no check (`coverage: none`)",
}
EXIT_WORDS = {
    ExitCode.PASSED: "everything passed",
    ExitCode.CASE_FAILED: "a case failed",
    ExitCode.USAGE: "wrong command line",
    ExitCode.SUITE_INVALID: "the suite is not valid, or a run folder that is read is damaged",
    ExitCode.CRITERION_NOT_MET: "a criterion is not met",
    ExitCode.TARGET_UNREACHABLE: "a target could not be reached or started",
    ExitCode.STOPPED_BY_USER: "stopped by the user",
    ExitCode.STOPPED_BY_LIMIT: "stopped by a limit",
    ExitCode.UNKNOWN: "the verdict is unknown: too little was measured, or pileup was the bottleneck",
    ExitCode.INTERNAL: "an internal error of pileup itself",
    ExitCode.OUTPUT_LOST: "all else would be 0, but stdout could not be written: a full disk, for example",
}
TERMS = Words("docs/glossary.md explains the terms: response time, missed, ambiguous, percentile and others.")
"""On the pages of checks and verdicts."""
UNIT_WORDS = {
    "time": "A decimal point is fine: `0.5 ms`.",
    "size": "k M G T P are powers of 1000, Ki Mi Gi Ti Pi powers of 1024.",
    "bandwidth": "Bytes or bits per second.",
    "rate": "A number alone is per second.",
    "fraction": "A number alone is a share: `0.05` is `5 %`.",
    "count": "A number without a unit; `1e7` is fine.",
}


def suite_page() -> Page:
    """Return the page of the file's words."""
    first = Words(
        "A suite is one YAML file, or an XML file with the same words (`pileup convert` makes one of the other). The "
        "words of the file itself are in the first table; a type that is a link has a table of its own below. "
        'Quantities carry [units](units). What is marked "reserved" is refused with "not yet".'
    )
    blocks = (first, *sections(Suite, "suite"))
    return Page(
        "", "suite", "Words of a suite", "every word that a suite may hold, with type, default and bounds", blocks
    )


def checks_page() -> Page:
    """Return the page of the grammar of checks, for `criteria`, `fail_when` and `cooldown`."""
    blocks: tuple[Block, ...] = (
        Words(
            "Checks are in `criteria`, `fail_when` and `until` of a cooldown. They are read, never evaluated as code."
        ),
        Code("FUNCTION(SELECTOR) COMPARISON VALUE [UNIT]"),
        Words(
            "A selector is `test[.operation][.field]` or `monitor.metric[label=value,…]`, or `test.number` for a "
            "number that a test reported. Ramp, warm-up and cooldown are left out. In a scan a criterion must hold at "
            "every point, unless `at` names some. A value with a unit of the wrong dimension is an error."
        ),
        Code(
            "rate(copy.bytes) >= 200 MB/s\nfraction(copy.failed) < 0.1 %\np99(copy.open.response) < 2 s\n"
            "max(node.cpu[mode=iowait]) < 20\nlast(count.entries) == 10"
        ),
        TERMS,
        Heading("Functions"),
        Table(("function", "what"), tuple(_functions())),
        Heading("Fields of a test"),
        Table(("field", "what"), tuple((f"`{field}`", (FIELD_WORDS | OUTCOME_WORDS)[field]) for field in FIELDS)),
        Heading("Numbers of faults"),
        Words(
            "What faults of the suite did to the loads under way, each time that they happened one value: "
            "`max(fault.recovery[fault=NAME,test=TEST]) < 1 min`. NAME is the name of the fault, or its place in the "
            "list from 1; a label may be left out where only one value of it is possible."
        ),
        Table(("number", "what"), tuple((f"`{name}`", what) for name, what in FAULT_NUMBERS.items())),
        Heading("Comparisons"),
        Words(" ".join(f"`{sign}`" for sign in COMPARISONS)),
    )
    return Page("", "checks", "Checks", "the grammar of criteria: functions, selectors, comparisons", blocks)


def _functions() -> Iterator[tuple[str, str]]:
    for function in FUNCTIONS:
        yield f"`{function}`", FUNCTION_WORDS[function]
    yield (
        "`p50` … `p99.9999`",
        'the percentile, e.g. `p99.9`: a time, "> 1 s" where that share timed out, "no answer", or "too few" values',
    )


def metrics_page(monitors: Iterable[tuple[str, type]]) -> Page:
    """Return the page of what monitors measure, from the tables in their docstrings."""
    blocks: list[Block] = [Words("In a check a metric is `monitor.metric[label=value]`, e.g. `max(node.load1) < 50`.")]
    for name, cls in monitors:
        blocks.append(Heading(name))
        tables = [part.lines for part in parts(inspect.getdoc(cls) or "") if part.kind == "table"]
        blocks.extend(Table(tuple(cells(head)), tuple(tuple(cells(row)) for row in rows)) for head, *rows in tables)
        blocks.append(Words(f"{'' if tables else 'As its options say. '}Options: [{name}](monitors/{name})."))
    return Page("", "metrics", "Metrics", "what monitors measure, with units and labels", tuple(blocks))


def units_page() -> Page:
    """Return the page of dimensions and their units."""
    rows = (
        (name, f"`{each.example}`", " ".join(f"`{unit}`" for unit in each.units if unit), UNIT_WORDS[name])
        for name, each in DIMENSIONS.items()
    )
    table = Table(("dimension", "example", "units", "what"), tuple(rows))
    note = Words("A number and its unit may be joined or apart: `64MiB`, `64 MiB`. The wrong dimension is an error.")
    law = sections(Law, "Times that are drawn", said=True)
    return Page("", "units", "Units", "dimensions and their units, and times that are drawn", (table, note, *law))


def verdicts_page() -> Page:
    """Return the page of outcomes, verdicts and exit codes."""
    outcomes = [(each.name.lower(), OUTCOME_WORDS[each.name.lower()]) for each in Outcome]
    blocks = (
        TERMS,
        Heading("Of an iteration or an operation"),
        Table(("outcome", "meaning"), tuple(outcomes)),
        Words(f"And a count that is not an outcome: missed, that is {FIELD_WORDS['missed']}."),
        Heading("Of a case"),
        Table(("outcome", "meaning"), tuple(CASE_WORDS.items())),
        Heading("Of a criterion"),
        Table(("verdict", "meaning"), tuple(CRITERION_WORDS.items())),
        Heading("Exit codes"),
        *exit_code_blocks(),
    )
    return Page("", "verdicts", "Verdicts", "outcomes of operations, cases and criteria; exit codes", blocks)


def exit_code_blocks() -> tuple[Block, ...]:
    """Return the table of exit codes, and which one counts when several apply."""
    return (
        Table(("code", "meaning"), tuple((str(int(code)), EXIT_WORDS[code]) for code in ExitCode)),
        Words(f"When several apply: {', '.join(str(int(code)) for code in PRECEDENCE)}, the first of them."),
    )
