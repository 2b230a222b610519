"""What about two groups of runs is not the same, and whether their figures may be compared at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pileup.model.contrast import Contrast, Differs
from pileup.model.find import level_words
from pileup.model.results import CaseResult, RunResults

MOST_NAMES = 3
FEW = 6
"""Cases on both sides together below which little can be shown by how they vary."""
HOST = ("system", "kernel", "machine", "cpu", "cpus", "memory", "open_files", "congestion_control")
"""What is told of a host besides its name; its load of the moment is not."""
Runs = Sequence[RunResults]


def differs(baseline: Runs, candidate: Runs) -> Iterable[Differs]:
    """Yield what is not the same: versions, hosts, targets, places, seed, values given and the lines of the suite."""
    for what, of in (
        ("title", lambda run: {"": str(run.get("title", ""))}),
        ("version", lambda run: _texts(run.get("versions"))),
        ("host", _hosts),
        ("target", _targets),
        ("places", lambda run: {"": _places(run)}),
        ("seed", lambda run: {"": str(run.get("seed", ""))}),
        ("value", lambda run: _texts((run.get("suite") or {}).get("values"))),
        ("build", lambda run: {"": "debug" if run.get("debug_build") else "release"}),
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
    if run.run.get("debug_build"):
        yield f"{name}: the engine is a debug build, its figures are not to be trusted."
    if run.run.get("ended") is None:
        yield f"{name}: the run goes on, or has crashed."
    elif run.run.get("stopped"):
        yield f"{name}: stopped before its end ({run.run['stopped']})."
    if run.limited:
        yield f"{name}: {run.limit}."
    bad = [case.name for case in run.cases if case.outcome in ("error", "unavailable", "unknown", "not run")]
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
    return {str((run.run.get("suite") or {}).get("digest", "")) for run in runs}


Texts = dict[str, str]


def _over(runs: Runs, of: Callable[[dict[str, Any]], Texts]) -> Texts:
    """Return name -> text over several runs; where they differ among each other, all of it."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, text in of(run.run).items():
            found.setdefault(name, {})[text] = None
    return {name: " or ".join(texts) for name, texts in found.items()}


def _between(what: str, first: Texts, second: Texts, both: bool = False) -> Iterable[Differs]:
    """Yield what has another text, or stands on one side alone (unless `both` have to have it)."""
    for name in dict.fromkeys([*first, *second]):
        before, after = first.get(name, ""), second.get(name, "")
        if before != after and not (both and not (before and after)):
            yield Differs(f"{what} {name}".strip(), before, after)


def _texts(found: Any) -> Texts:
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _hosts(run: dict[str, Any]) -> Texts:
    hosts = [host for host in run.get("hosts") or [] if isinstance(host, dict)]
    found = {"": ", ".join(str(host.get("name", "")) for host in hosts)}
    for name in HOST:
        found[name] = ", ".join(dict.fromkeys(str(host.get(name, "")) for host in hosts))
    return found


def _targets(run: dict[str, Any]) -> Texts:
    """Return what is known of each target; the address of one that pileup started is new each time."""
    found = {}
    for target in run.get("targets") or []:
        words = [str(target.get("kind", ""))]
        if not (target.get("launched") or target.get("private")):
            words.append(str(target.get("url", "")))
        found[str(target["name"])] = " ".join(words)
    return found


def _places(run: dict[str, Any]) -> str:
    """Return how many places pressed, and where; a run that was taken up again has others in each session."""
    sessions: dict[str, list[str]] = {}
    for place in run.get("places") or []:
        sessions.setdefault(str(place.get("session", "")), []).append(str(place.get("host", "")))
    told = [f"{len(hosts)} on {', '.join(dict.fromkeys(hosts))}" for hosts in sessions.values()]
    return " or ".join(dict.fromkeys(told))


def _loads(runs: Runs) -> Texts:
    found: dict[str, dict[str, None]] = {}
    for case in (case for run in runs for case in run.cases):
        found.setdefault(_place(case), {})[case.load] = None
    return {name: " or ".join(loads) for name, loads in found.items()}


def _lines(baseline: Runs, candidate: Runs) -> Iterable[Differs]:
    """Yield the lines that only one of the suites has, but for comments; nothing when their texts are the same."""
    first, second = (_suite_lines(runs) for runs in (baseline, candidate))
    gone = [line for line in first if line not in second]
    come = [line for line in second if line not in first]
    if gone or come:
        yield Differs("suite", "\n".join(gone), "\n".join(come))


def _suite_lines(runs: Runs) -> dict[str, None]:
    texts = [str((run.run.get("suite") or {}).get("text", "")) for run in runs]
    lines = [line.rstrip() for text in texts for line in text.splitlines()]
    return {line: None for line in lines if line.strip() and not line.lstrip().startswith("#")}
