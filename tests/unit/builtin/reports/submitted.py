"""Results of a run that submitted jobs: an audit after a fault that is not complete, and one at the end."""

from dataclasses import replace

from pileup.model.figures import Figure, Interval
from pileup.model.results import RunResults
from pileup.model.submissions import AuditResult, BadSubmission, JobReason, JobsResult
from tests.unit.builtin.reports import pieces, synthetic

FATES = ("ran once", "cancelled", "still there", "ran twice", "lost", "id used again", "never")


def audit(number: int, fault: int, problem: str = "", **counts: int) -> AuditResult:
    """An audit of `submit`; counts by fate, with _ for spaces."""
    fates = dict.fromkeys(FATES, 0) | {name.replace("_", " "): count for name, count in counts.items()}
    looked = sum(fates.values())
    return AuditResult(
        number=number,
        target="ce",
        test="submit",
        fault=fault,
        after="kill of ce <at> 5 s in submit" if fault >= 0 else "the run",
        load="submit" if fault >= 0 else "",
        time=pieces.BEGIN + (7 + number) * pieces.SECOND,
        claims=looked + (20 if problem else 0),
        looked=looked,
        acknowledged=looked - fates["never"] - 2,
        fates=fates,
        ghosts=2,
        lost_share=Figure(0.03, "fraction", Interval(0.02, 0.05), looked),
        states={"completed": fates["ran once"]},
        bad=(
            *(BadSubmission(f"job-{n}", str(n), "lost", "", "[red]&") for n in range(min(20, fates["lost"]))),
            BadSubmission("phantom", "", "ghost", "99", ""),
        ),
        problem=problem,
    )


def submitted() -> RunResults:
    """A run with jobs."""
    jobs = JobsResult(
        "submit",
        {"completed": 52_684, "failed": 1, "cancelled": 3},
        Figure(1 / 52_685, "fraction", Interval(3.35e-6, 1.075e-4), 52_685),
        (
            JobReason("BLAH error: submission command failed [exit] <201>", 1, "job-7"),
            JobReason("cancelled", 3, "job-9"),
        ),
        4,
    )
    audits = (audit(0, 0, "it was stopped", ran_once=40, lost=30), audit(1, -1, ran_once=1_234, lost=30, never=5))
    rich = synthetic.rich()
    criteria = (replace(rich.criteria[0], coverage="partial", remark="only <one> user"), *rich.criteria[1:])
    return replace(rich, audits=audits, jobs=(jobs,), criteria=criteria)
