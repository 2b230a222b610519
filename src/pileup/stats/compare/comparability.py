"""What about two groups of runs is not the same, and whether their figures may be compared at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pileup.model.contrast import Contrast, RunDifference
from pileup.model.loads.levels import level_words
from pileup.model.manifest import Manifest
from pileup.model.record import ERROR, NOT_RUN, UNAVAILABLE, UNKNOWN
from pileup.model.results import CaseResult, RunResults

MOST_NAMES = 3
UNFINISHED = (ERROR, UNAVAILABLE, UNKNOWN, NOT_RUN)
"""Outcomes of cases that did not run to their end."""
FEW = 6
"""Cases on both sides together below which little can be shown by how they vary."""
HOST = ("system", "kernel", "machine", "cpu", "cpus", "memory", "open_files", "congestion_control")
"""What is reported about a host besides its name; its load of the moment is not."""
Runs = Sequence[RunResults]


def differs(baseline: Runs, candidate: Runs) -> Iterable[RunDifference]:
    """Yield what is not the same: versions, hosts, targets, places, seed, values given and the lines of the suite."""
    for what, of in (
        ("title", lambda run: {"": run.title}),
        ("version", lambda run: dict(run.versions)),
        ("host", _hosts),
        ("target", _targets),
        ("places", lambda run: {"": _places(run)}),
        ("seed", lambda run: {"": "" if run.seed is None else str(run.seed)}),
        ("value", lambda run: dict(run.suite.values)),
        ("time", lambda run: {"": "virtual" if run.simulated else "real"}),
        ("build", lambda run: {"": "debug" if run.debug_build else "release"}),
    ):
        yield from _between(what, _over(baseline, of), _over(candidate, of))
    yield from _between("load", _loads(baseline), _loads(candidate), both=True)
    yield from _lines(baseline, candidate)


def warnings(baseline: Runs, candidate: Runs, contrasts: Sequence[Contrast]) -> Iterable[str]:
    """Yield why the two may not be comparable, and what their intervals do not hold."""
    for run in (*baseline, *candidate):
        yield from _of_run(run)
    if _suite_lines(baseline) != _suite_lines(candidate):
        yield "The suites differ: what is compared may not be the same work."
    elif _digests(baseline) != _digests(candidate):
        yield "The suites differ in the values given: what is compared may not be the same work."
    yield from _apart(baseline, candidate)
    yield from _at_other_levels(baseline, candidate)
    over_runs = [each for each in contrasts if each.over_runs]
    if any(each.baseline.n + each.candidate.n < FEW for each in over_runs):
        yield "Few repeats: how they vary is hardly known, so little can be shown. Take four or more on each side."
    if any(not each.over_runs and each.p is not None for each in contrasts):
        yield (
            "One case on each side: the intervals hold what varies within a run, not what changes from run to run."
            " Repeat the runs to see that."
        )


def _of_run(run: RunResults) -> Iterable[str]:
    name = run.folder.rpartition("/")[2]
    if run.run.simulated:
        yield f"{name}: simulated in virtual time, no system was measured."
    if run.run.debug_build:
        yield f"{name}: the engine is a debug build, its figures are not reliable."
    if not run.run.has_ended:
        yield f"{name}: the run goes on, or has crashed."
    elif run.run.stopped:
        yield f"{name}: stopped before its end ({run.run.stopped})."
    if run.limited:
        yield f"{name}: {run.limit}."
    bad = [case.name for case in run.cases if case.outcome in UNFINISHED]
    if bad:
        yield f"{name}: {_names(bad)} did not run to the end."


def _apart(baseline: Runs, candidate: Runs) -> Iterable[str]:
    """Yield which tests only one side has, and which points."""
    first, second = _tests(baseline), _tests(candidate)
    for names, where in ((first - second, "baseline"), (second - first, "candidate")):
        if names:
            yield f"Only in the {where}: {_names(sorted(names))}."


def _at_other_levels(baseline: Runs, candidate: Runs) -> Iterable[str]:
    """Yield which searches were measured at other levels on one side."""
    first, second = _measured(baseline), _measured(candidate)
    apart = sorted(name for name in first if name in second and first[name] != second[name])
    for name in apart[:MOST_NAMES]:
        before, after = (" or ".join(levels) for levels in (first[name], second[name]))
        yield (
            f"{name} was measured at {before} in the baseline and at {after} in the candidate, as each search found:"
            " rates and times are those of different loads; what compares is `found`."
        )


def _measured(runs: Runs) -> dict[str, dict[str, None]]:
    """Return test -> the levels, in words, at which what searches had found was measured."""
    levels: dict[str, dict[str, None]] = {}
    for case in (case for run in runs for case in run.cases):
        if case.found is not None and case.found.measured is not None:
            levels.setdefault(_place(case), {})[level_words(case.found.measured, case.found.by)] = None
    return levels


def _tests(runs: Runs) -> set[str]:
    return {_place(case) for run in runs for case in run.cases}


def _place(case: CaseResult) -> str:
    point = ",".join(f"{axis}={value}" for axis, value in case.point.items())
    return f"{case.test or case.name}[{point}]" if point else case.test or case.name


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _digests(runs: Runs) -> set[str]:
    return {run.run.suite.digest for run in runs}


Texts = dict[str, str]


def _over(runs: Runs, of: Callable[[Manifest], Texts]) -> Texts:
    """Return name -> text over several runs; where they differ among each other, all of it."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, text in of(run.run).items():
            found.setdefault(name, {})[text] = None
    return {name: " or ".join(texts) for name, texts in found.items()}


def _between(what: str, first: Texts, second: Texts, both: bool = False) -> Iterable[RunDifference]:
    """Yield what has another text, or is on one side alone (unless `both` have to have it)."""
    for name in dict.fromkeys([*first, *second]):
        before, after = first.get(name, ""), second.get(name, "")
        if before != after and not (both and not (before and after)):
            yield RunDifference(f"{what} {name}".strip(), before, after)


def _hosts(run: Manifest) -> Texts:
    found = {"": ", ".join(host.name for host in run.hosts)}
    for name in HOST:
        values = (getattr(host, name) for host in run.hosts)
        found[name] = ", ".join(dict.fromkeys("" if value is None else str(value) for value in values))
    return found


def _targets(run: Manifest) -> Texts:
    """Return what is known of each target; the address of one that pileup started is new each time."""
    found = {}
    for target in run.targets:
        there = target.launched or target.private
        found[target.name] = target.kind if there else f"{target.kind} {target.url}"
    return found


def _places(run: Manifest) -> str:
    """Return how many places pressed, and where; a run that was resumed has others in each session."""
    sessions: dict[int | str, list[str]] = {}
    for place in run.places:
        sessions.setdefault(place.session, []).append(place.host)
    told = [f"{len(hosts)} on {', '.join(dict.fromkeys(hosts))}" for hosts in sessions.values()]
    return " or ".join(dict.fromkeys(told))


def _loads(runs: Runs) -> Texts:
    found: dict[str, dict[str, None]] = {}
    for case in (case for run in runs for case in run.cases):
        found.setdefault(_place(case), {})[case.load] = None
    return {name: " or ".join(loads) for name, loads in found.items()}


def _lines(baseline: Runs, candidate: Runs) -> Iterable[RunDifference]:
    """Yield the lines that only one of the suites has, but for comments; nothing when their texts are the same."""
    first, second = (_suite_lines(runs) for runs in (baseline, candidate))
    gone = [line for line in first if line not in second]
    come = [line for line in second if line not in first]
    if gone or come:
        yield RunDifference("suite", "\n".join(gone), "\n".join(come))


def _suite_lines(runs: Runs) -> dict[str, None]:
    texts = [run.run.suite.text for run in runs]
    lines = [line.rstrip() for text in texts for line in text.splitlines()]
    return {line: None for line in lines if line.strip() and not line.lstrip().startswith("#")}
