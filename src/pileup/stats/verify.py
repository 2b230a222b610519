"""Checks that a record is consistent: frames with rows, histograms with rows, run.json with events.

Pure functions of the run folder; each yields problems in words, and nothing for a complete record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pileup.model.manifest import Manifest
from pileup.model.record import OUTCOMES, Frame, FrameRow, Phase
from pileup.model.results import RunResults
from pileup.model.units import counted
from pileup.record import RunFolder
from pileup.record.tally import Counters, add
from pileup.record.words import word_of_phase
from pileup.stats.frames.totals import measure

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Found = tuple[str, str]
"""Where, and what is wrong there."""
MEMORY = "512MB"
"""What one question may take; beyond it spills to the disk."""
RESOLUTION = 0.002
"""Half-width within which a histogram of three digits gives a quantile, including rounding."""
SHARES = (0.5, 0.9, 0.99, 0.999)
MOST = 20
"""Most findings of one kind that are listed one by one."""
Key = tuple[int, int, str, str, bool, str]
"""Case, place, phase, operation, whether iterations, outcome (or "bytes")."""


def disagreements(folder: RunFolder, results: RunResults) -> Iterator[Found]:
    """Yield what in a record does not agree; `results` are its figures made again."""
    run = folder.manifest()
    names = {case.id: case.name for case in run.cases}
    with folder.operations().connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        yield from _ids(connection)
        yield from _few(_counts(folder, connection, names), "counts")
        yield from _few(_quantiles(folder, connection, names), "quantiles")
    yield from _told(folder, run)
    yield from _few(_audited(folder, results), "audits")
    yield from _verdicts(run, results)


def _few(found: Iterable[Found], kind: str) -> Iterator[Found]:
    """Yield the first findings of a kind, and how many more there are."""
    number = 0
    for number, each in enumerate(found, 1):
        if number <= MOST:
            yield each
    if number > MOST:
        yield kind, f"and {number - MOST} more findings like these"


def _ids(connection: DuckDBPyConnection) -> Iterator[Found]:
    for text, query in (
        ("ids are in more than one row", "SELECT count(*) - count(DISTINCT id) FROM operations"),
        (
            "operations name a parent that is not in the record",
            # an attempt that was broken off by a kill may have lost the iterations that its operations were of
            """SELECT count(*) FROM operations o WHERE o.parent <> 0 AND o.phase <> 'broken-off'
            AND NOT EXISTS (SELECT 1 FROM operations p WHERE p.id = o.parent)""",
        ),
        ("rows end before they start", 'SELECT count(*) FROM operations WHERE "end" < start'),
        (
            "rows belong to no case of run.json",
            """SELECT count(*) FROM operations WHERE "case" = '' AND side = 'client'""",
        ),
        ("rows have a word for phase or outcome that is unknown", _UNKNOWN),
    ):
        (number,) = connection.execute(query).fetchone() or (0,)
        if number:
            yield "operations", f"{number} {text}"


_UNKNOWN = "SELECT count(*) FROM operations WHERE phase = '?' OR outcome = '?' OR side = '?'"


def _counts(folder: RunFolder, connection: DuckDBPyConnection, names: dict[int, str]) -> Iterator[Found]:
    """Yield where the counts of frames are not those of rows, per case, place, phase, operation and outcome."""
    told, rows = _of_frames(folder), _of_rows(connection)
    for key in sorted(set(told) | set(rows)):
        if told.get(key, 0) != rows.get(key, 0):
            case, place, phase, operation, iteration, what = key
            kind = "iterations" if iteration else "operations"
            where = f"{names.get(case, f'case {case}')}, place {place}, {phase}"
            yield where, f"{operation}: frames count {told.get(key, 0)} {kind} {what}, rows {rows.get(key, 0)}"


def _of_frames(folder: RunFolder) -> dict[Key, int]:
    found: dict[tuple[int, int, str, str, bool], Counters] = {}
    for frame in folder.frames():
        place = frame.case, frame.place

        def key(row: FrameRow, place: tuple[int, int] = place) -> tuple[int, int, str, str, bool]:
            return (*place, word_of_phase(Phase(row.phase)), row.operation, row.iteration)

        add(frame, found, key, lambda _: Counters())
    return {(*key, word): count for key, each in found.items() for word, count in each.counts.items() if count}


def _of_rows(connection: DuckDBPyConnection) -> dict[Key, int]:
    outcomes = ", ".join(f"'{word}'" for word in OUTCOMES)
    rows = connection.execute(
        f"""SELECT case_id, place, phase, operation, parent = 0, outcome, count(*) FROM operations
        WHERE side = 'client' AND phase <> 'broken-off' AND outcome IN ({outcomes}) GROUP BY ALL"""  # noqa: S608  ours
    ).fetchall()
    found: dict[Key, int] = {
        (int(case), int(place), str(phase), str(operation), bool(iteration), str(outcome)): int(count)
        for case, place, phase, operation, iteration, outcome, count in rows
    }
    return found


def _quantiles(folder: RunFolder, connection: DuckDBPyConnection, names: dict[int, str]) -> Iterator[Found]:
    """Yield where a quantile out of histograms is not that of the rows, within the resolution of a histogram."""
    frames: dict[int, list[Frame]] = {}
    for frame in folder.frames():
        frames.setdefault(frame.case, []).append(frame)
    for case, mine in frames.items():
        for tally in measure(mine).tallies.values():
            histogram = tally.response
            if histogram.count:
                limits = [float(min(histogram.quantile(share), histogram.max)) for share in SHARES]
                wrong = _wrong(connection, case, tally.operation, tally.iteration, limits)
                where = f"{names.get(case, f'case {case}')}, {tally.operation}"
                yield from ((where, text) for text in wrong)


def _wrong(
    connection: DuckDBPyConnection, case: int, operation: str, iteration: bool, limits: list[float]
) -> Iterator[str]:
    value = '("end" - intended)'
    asked = ", ".join(
        f"count(*) FILTER ({value} < {limit * (1 - RESOLUTION) - 1}),"
        f" count(*) FILTER ({value} <= {limit * (1 + RESOLUTION) + 1})"
        for limit in limits
    )
    row = connection.execute(
        f"""SELECT count(*), {asked} FROM operations WHERE case_id = ? AND operation = ? AND (parent = 0) = ?
        AND phase = 'measure' AND outcome = 'passed' AND side = 'client'""",  # noqa: S608  numbers only
        [case, operation, iteration],
    ).fetchone() or (0,)
    n, sides = int(row[0]), row[1:]
    for place, share in enumerate(SHARES):
        rank, below, upto = max(1, math.ceil(share * n)), int(sides[2 * place]), int(sides[2 * place + 1])
        if n and not below < rank <= upto:
            yield f"p{share * 100:g} of histograms is {limits[place]:.0f} ns, not that of the {counted(n, 'row')}"


def _told(folder: RunFolder, run: Manifest) -> Iterator[Found]:
    """Yield where run.json does not say what events say."""
    if not run.has_ended:
        yield "run.json", "the run has not ended: it goes on, or has crashed (`pileup resume` resumes it)"
    newest = {event.case: event for event in folder.events() if event.kind == "case" and event.case is not None}
    for case in run.cases:
        event = newest.get(case.id)
        if event is None:
            continue
        said = event.outcome if event.state == "ended" else None
        if said != case.outcome:
            yield case.name, f"its newest event says {said or 'that it began'}, run.json {case.outcome}"


def _audited(folder: RunFolder, results: RunResults) -> Iterator[Found]:
    """Yield audits that did not look up all that was claimed, and findings without a claim."""
    for audit in results.audits:
        if not audit.problem and audit.looked != audit.claims:
            where = f"audit {audit.number}, {audit.test} on {audit.target}"
            yield where, f"{audit.claims} submissions were claimed, the record has findings of {audit.looked}"
    if results.audits:
        names = {(claim.target, claim.name) for claim in folder.claims()}
        for found in folder.findings():
            if (found.claim.target, found.claim.name) not in names:
                yield f"audit {found.audit}", f"a finding is of {found.claim.name}, which nobody has claimed"


def _verdicts(run: Manifest, results: RunResults) -> Iterator[Found]:
    if not run.has_ended:
        return
    for name, recorded, anew in (
        ("verdict", run.verdict, results.verdict),
        ("exit_code", run.exit_code, int(results.exit_code)),
    ):
        if recorded != anew:
            yield "run.json", f"{name} is {recorded}, computed again from the record it is {anew}"
