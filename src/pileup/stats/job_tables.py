"""Jobs and submissions as plain tables."""

from __future__ import annotations

from collections.abc import Iterator

from pileup.model.figures import Figure
from pileup.model.record import ClaimRow
from pileup.model.results import RunResults
from pileup.model.submissions import AuditResult
from pileup.record import RunFolder
from pileup.stats.tables import NUMBER, TEXT, WHOLE, Row, Table

CLAIM = {"claimed": WHOLE, "case": TEXT, **dict.fromkeys(("test", "target", "name", "id"), TEXT)}
FOUND = dict.fromkeys(("fate", "state", "found", "reason"), TEXT)
TIMES = ("submitted", "started", "ended")


def tables(folder: RunFolder, results: RunResults) -> Iterator[Table]:
    """Yield the tables of jobs, of why they failed, of audits, of what was claimed and of what was found."""
    yield _jobs(results)
    yield _reasons(results)
    yield _audits(results)
    names = {case.id: case.name for case in results.run.cases}
    claims = ((*_claim(row, names), row.what) for row in folder.claims())
    yield Table("claims", CLAIM | {"what": TEXT}, claims)
    columns = {"audit": WHOLE, "time": WHOLE, **CLAIM, "jobs": WHOLE, **FOUND, **dict.fromkeys(TIMES, WHOLE)}
    findings = (
        (
            *(each.audit, each.time, *_claim(each.claim, names), each.jobs),
            *(each.fate, each.state, each.found, each.reason),
            *(time or None for time in (each.submitted, each.started, each.ended)),
        )
        for each in folder.findings()
    )
    yield Table("findings", columns, findings)


def _claim(claim: ClaimRow, names: dict[int, str]) -> Row:
    return claim.time, names.get(claim.case, ""), claim.test, claim.target, claim.name, claim.id


def _jobs(results: RunResults) -> Table:
    columns = {"test": TEXT, "state": TEXT, "count": WHOLE, "over": WHOLE} | _with_ends("failed")
    rows = (
        (each.test, state, count, each.failed.n, *_ends(each.failed))
        for each in results.jobs
        for state, count in each.states.items()
    )
    return Table("jobs", columns, rows)


def _reasons(results: RunResults) -> Table:
    rows = ((each.test, one.reason, one.count, one.name) for each in results.jobs for one in each.reasons)
    return Table("job_reasons", {"test": TEXT, "reason": TEXT, "count": WHOLE, "name": TEXT}, rows)


def _audits(results: RunResults) -> Table:
    fates = list(dict.fromkeys(fate for each in results.audits for fate in each.fates))
    numbers = ("claims", "looked", "acknowledged", *(fate.replace(" ", "_") for fate in fates), "ghosts")
    columns = {"number": WHOLE, "time": WHOLE, "fault": WHOLE, **dict.fromkeys(("after", "target", "test"), TEXT)}
    columns |= dict.fromkeys(numbers, WHOLE) | _with_ends("lost_share") | {"problem": TEXT}

    def row(each: AuditResult) -> Row:
        head = (each.number, each.time, each.fault if each.fault >= 0 else None, each.after, each.target, each.test)
        counted = (each.claims, each.looked, each.acknowledged, *(each.fates[fate] for fate in fates), each.ghosts)
        return (*head, *counted, *_ends(each.lost_share), each.problem)

    return Table("audits", columns, map(row, results.audits))


def _with_ends(name: str) -> dict[str, str]:
    return {name: NUMBER, f"{name}_low": NUMBER, f"{name}_high": NUMBER}


def _ends(figure: Figure) -> Row:
    ends = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
    return figure.value, *ends
