"""The results of a whole run, judged: a pure function of its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pileup.model import self_metrics
from pileup.model.ending import StoppedBy
from pileup.model.event import FAULT, Event
from pileup.model.exits import ExitCode, combine
from pileup.model.manifest import Manifest, UntilEntry
from pileup.model.not_covered import words
from pileup.model.record import ERROR, FAILED, NOT_RUN, SPARED, UNAVAILABLE, Frame
from pileup.model.record import UNKNOWN as CASE_UNKNOWN
from pileup.model.rest import COOLDOWN
from pileup.model.results import CaseResult, CriterionResult, Equivalence, ErrorGroup, RunResults
from pileup.model.submissions import AuditResult
from pileup.model.units import format_fraction, format_time
from pileup.model.verdict import SHOWN, RunVerdict, Verdict
from pileup.record import RunFolder
from pileup.stats import audits, jobs
from pileup.stats.cases import CaseData, case_result
from pileup.stats.compare import equivalent, matrix, points
from pileup.stats.compare.monitor_points import observed
from pileup.stats.errors import errors
from pileup.stats.events import events, not_written
from pileup.stats.faults import outages, repeats
from pileup.stats.frames import detached, kept_dependence
from pileup.stats.frames.blocks import add_dependence
from pileup.stats.frames.kept_dependence import Known
from pileup.stats.frames.recorded import recorded
from pileup.stats.frames.window import windows
from pileup.stats.generator import bottleneck
from pileup.stats.generator.overhead import overhead
from pileup.stats.joined import clocks, joined
from pileup.stats.loads import stalls, unconfirmed
from pileup.stats.loads.hold import held
from pileup.stats.loads.settling import event as settled_event
from pileup.stats.loads.settling import settled
from pileup.stats.monitors import MetricSeries, whole_series
from pileup.stats.served import served
from pileup.stats.verdicts import coverage, criteria

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STOPPED = {
    StoppedBy.USER: ExitCode.STOPPED_BY_USER,
    StoppedBy.LIMIT: ExitCode.STOPPED_BY_LIMIT,
    StoppedBy.INTERNAL: ExitCode.INTERNAL,
}
OF_CASE = {
    FAILED: ExitCode.CASE_FAILED,
    ERROR: ExitCode.CASE_FAILED,
    NOT_RUN: ExitCode.CASE_FAILED,
    UNAVAILABLE: ExitCode.TARGET_UNREACHABLE,
    CASE_UNKNOWN: ExitCode.UNKNOWN,
}
OF_EQUIVALENCE = {RunVerdict.FAILED: ExitCode.CRITERION_NOT_MET, RunVerdict.UNKNOWN: ExitCode.UNKNOWN}
VERDICTS = {
    ExitCode.PASSED: RunVerdict.PASSED,
    ExitCode.CASE_FAILED: RunVerdict.FAILED,
    ExitCode.CRITERION_NOT_MET: RunVerdict.FAILED,
    ExitCode.TARGET_UNREACHABLE: RunVerdict.FAILED,
    ExitCode.STOPPED_BY_USER: RunVerdict.STOPPED,
    ExitCode.STOPPED_BY_LIMIT: RunVerdict.STOPPED,
}


def results(folder: RunFolder, *, anew: bool = False) -> RunResults:
    """Return the figures and verdicts of a run that has ended, goes on, or has crashed. Raises RecordError.

    What is kept of its rows is taken unless `anew`: else each is looked at.
    """
    return worked_out(folder, None if anew else kept_dependence.read(folder.dependence()))[0]


def worked_out(folder: RunFolder, known: Known | None = None) -> tuple[RunResults, object]:
    """Return the same, and what may be kept for the next who asks (`RunFolder.keep_dependence`)."""
    run, operations = folder.manifest(), folder.operations()
    found_points = points.points(run)
    with operations.bare() as connection:
        answers, series = _samples(folder, connection)
        happened = (*events(folder.events(), run.sessions), *not_written(folder))
        operations.add_views(connection)
        unconfirmed.set_aside(connection, run.cases)
        found_outages = outages.outages(connection, happened, run)
        told = audits.audits(folder, run)
        felt = repeats.effects(happened, found_outages, told, run)
        happened = outages.with_outages(happened, found_outages)
        found_errors = errors(connection, run)
        by_servers = served(connection)
        with_servers, one_sided = joined(connection, {each.name: each.resolution or 0 for each in run.monitors})
        data = _cases(folder, run, connection, known)
        remarks = stalls.remarks(connection, data, series)
        for each in data:
            each.remark = remarks.get(each.entry.id, "")
            each.held = held(each.entry, each.window, series)
            each.settled = settled(each.entry, each.frames, each.window, happened)
        found_limits = bottleneck.limits(data, series, found_errors)
        limited = frozenset(found.case for found in found_limits if found.generator)
        failures = {found.case: found.failures for found in found_limits}
        ended = jobs.jobs(connection, run)
        made = (
            case_result(each, folder.output_paths(each.entry.name), folder.artefacts(each.entry.name)) for each in data
        )
        cases = jobs.with_cancelled(connection, made)
        judged = _judged(run, data, series + repeats.series(felt), connection, failures)
    equal = equivalent.equivalences(run.equivalent, cases, answers, folder.artefact)
    code = exit_code(run, cases, judged, equal)
    found = RunResults(
        folder=str(folder.path),
        run=run,
        cases=cases,
        criteria=judged,
        series=tuple(each.drawn() for each in series),
        errors=found_errors,
        served=by_servers,
        joined=with_servers,
        one_sided=one_sided,
        clocks=clocks(folder.events()),
        equivalences=equal,
        exit_code=code,
        verdict=VERDICTS.get(code, RunVerdict.UNKNOWN),
        limit=bottleneck.one_line(found_limits),
        bottlenecks=tuple(each.row for each in bottleneck.in_order(found_limits)),
        limited=tuple(sorted(limited)),
        overhead=overhead(run, data, series),
        notes=tuple(_notes(run, cases, told)),
        events=_in_time(happened + bottleneck.events(found_limits) + _steady(data)),
        points=found_points,
        faults=repeats.results(felt),
        audits=told,
        jobs=ended,
        matrices=matrix.matrices(found_points, data, limited),
        comparisons=points.comparisons(found_points, cases, limited) + observed(found_points, data, _of_system(series)),
    )
    return found, kept_dependence.plain(data)


def _samples(folder: RunFolder, connection: DuckDBPyConnection) -> tuple[list[MetricSeries], list[MetricSeries]]:
    """Return what tests reported of their answers, and all other samples. Raises DamagedRecord."""
    folder.check_tables(connection)
    return equivalent.split(whole_series(folder.samples(connection)))


def _judged(
    run: Manifest,
    data: list[CaseData],
    series: list[MetricSeries],
    connection: DuckDBPyConnection,
    failures: Mapping[str, Sequence[ErrorGroup]],
) -> tuple[CriterionResult, ...]:
    """Return the criteria of a run with their verdicts."""
    judge = criteria.Criteria(data, series, connection, failures)
    judge.monitors = frozenset({COOLDOWN, FAULT, *(monitor.name for monitor in run.monitors)})
    judge.recording = frozenset(monitor.name for monitor in run.monitors if monitor.records)
    judge.points, judge.covered, judge.simulated = points.points(run), coverage.of(run), run.simulated
    return tuple(judge.judge(criterion) for criterion in run.criteria)


def _steady(cases: Sequence[CaseData]) -> tuple[Event, ...]:
    marks = (settled_event(each.entry.name, each.settled) for each in cases if each.settled is not None)
    return tuple(mark for mark in marks if mark is not None)


def _in_time(found: tuple[Event, ...]) -> tuple[Event, ...]:
    return tuple(sorted(found, key=lambda event: event.begin))


def _of_system(series: Sequence[MetricSeries]) -> list[MetricSeries]:
    """Return the samples that are not of pileup itself: its own load is not what a scan compares."""
    return [each for each in series if each.monitor != self_metrics.MONITOR]


def _cases(folder: RunFolder, run: Manifest, connection: DuckDBPyConnection, known: Known | None) -> list[CaseData]:
    frames = _by_case(folder, run)
    told = [case for case in run.cases if case.outcome is not SPARED]
    places: dict[int, tuple[str, ...]] = {
        place.number: (place.name, place.host, str(place.number)) for place in run.places
    }
    measured = windows(connection, told, frames)
    names = {number: detached.operations_of(each) for number, each in frames.items()}
    outliving = detached.windows(connection, names)
    lines = detached.in_time(connection, names) if run.has_ended else {}
    data = [
        CaseData(case, frames.get(number, []), measured.get(number), outliving.get(number, {}), lines.get(number, ()))
        for case in told
        for number in (case.id,)
    ]
    add_dependence(connection, data, known)
    by_monitors = recorded(connection)
    for each in data:
        each.recorded, each.places = by_monitors.get(each.entry.id, {}), places
    return data


def exit_code(
    run: Manifest,
    cases: Sequence[CaseResult],
    judged: Sequence[CriterionResult],
    equal: Sequence[Equivalence] = (),
) -> ExitCode:
    """Return the one code of a run.

    A run that measured nothing, has not ended, or without a fault or an audit that it should have had is unknown: it
    cannot pass.
    """
    codes = [OF_CASE[case.outcome] for case in cases if case.outcome in OF_CASE]
    codes += [of_criterion(each) for each in judged]
    codes += [OF_EQUIVALENCE.get(each.verdict, ExitCode.PASSED) for each in equal]
    if run.stopped_by:
        codes.append(STOPPED[run.stopped_by])
    if not _anything(cases):
        codes.append(ExitCode.UNKNOWN)
    if not run.has_ended or run.fault_problems or audits.problems(run):
        codes.append(ExitCode.UNKNOWN)
    return combine(codes)


def of_criterion(judged: CriterionResult) -> ExitCode:
    """Return the code of one criterion; where it asks for `confidence: shown`, what is not shown is unknown."""
    if judged.verdict is Verdict.UNKNOWN or (judged.confidence == SHOWN and not judged.verdict.shown):
        return ExitCode.UNKNOWN
    return ExitCode.CRITERION_NOT_MET if judged.verdict.missed else ExitCode.PASSED


def _anything(cases: Sequence[CaseResult]) -> bool:
    """Return whether anything was measured: something ended, bytes came, or something was due and could not begin."""
    found = [operation for case in cases for operation in case.operations]
    return any(each.counts.ended or each.counts.missed or each.rate.n or each.throughput.value for each in found)


def _by_case(folder: RunFolder, run: Manifest) -> dict[int, list[Frame]]:
    """Return the frames of each case, but for attempts that were broken off and made again."""
    void = set(run.void)
    found: dict[int, list[Frame]] = {}
    for frame in folder.frames():
        if (frame.case, frame.place) not in void:
            found.setdefault(frame.case, []).append(frame)
    return found


def _precise(until: UntilEntry, most: int) -> str:
    """Return in words how precise the figure of `until` is over the repeats."""
    where = ", ".join(f"{axis}={value}" for axis, value in until.point.items())
    half = "nothing yet" if until.half is None else format_fraction(until.half)
    if until.reached:
        everywhere = " at every point" if where else ""
        made = f"{until.repeats} of at most {most} repeats"
        return f"{until.figure} is known within {half}{everywhere} after {made}."
    at = f" at {where}" if where else ""
    wanted = format_fraction(until.within)
    return f"{until.figure} is not known within {wanted}: {half}{at} after {until.repeats} repeats."


def _clocks(run: Manifest) -> list[str]:
    """Return how well the clocks of merged places agree, in a sentence."""
    merged = [each for each in run.merged if each.place]
    told = (
        f"{each.place} within {format_time(each.clock_error)}"
        if each.clock_error is not None
        else f"{each.place} by nothing that is known"
        for each in merged
    )
    return [f"The clocks of the places are kept right: {', '.join(told)}."] if merged else []


def _notes(run: Manifest, cases: Sequence[CaseResult], audited: Sequence[AuditResult]) -> list[str]:
    notes = []
    if run.simulated:
        notes.append("Simulated: its time is virtual, and no system was measured.")
    if run.stopped:
        notes.append(f"Stopped: {run.stopped}")
    if not run.has_ended:
        notes.append("This run goes on, or has crashed: the figures are those of its record so far.")
    notes += _clocks(run)
    notes += words(run.not_covered)
    notes += [f"A fault of the suite: {problem}" for problem in run.fault_problems]
    notes += [f"Target {target.name}: {remark}." for target in run.targets for remark in target.remarks]
    notes += audits.problems(run) + audits.remarks(run) + audits.unknown(audited)
    if run.until:
        notes.append(_precise(run.until, run.repeat))
    if run.debug_build:
        notes.append("The engine is a debug build: its figures are not reliable.")
    if cases and not _anything(cases):
        notes.append("Nothing was measured.")
    return notes
