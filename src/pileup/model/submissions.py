"""How jobs ended, and the fates of submissions: parts of the results of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pileup.model.cause import Cause

if TYPE_CHECKING:
    from pileup.model.figures import Figure

JOBS = {
    "ran once": "jobs_once",
    "ran twice": "jobs_twice",
    "cancelled": "jobs_cancelled",
    "still there": "jobs_going",
    "lost": "jobs_lost",
    "never": "jobs_never",
    "id used again": "jobs_reused",
    "purged by others": "jobs_purged",
    "unknown": "jobs_unknown",
}
"""Word of plugin.batch.Fate -> the sample that counts it."""
GHOST_JOBS, LOST_SHARE, FAILED_SHARE = "jobs_ghosts", "lost_share", "failed_share"
AUDITED = frozenset((*JOBS.values(), GHOST_JOBS, LOST_SHARE, FAILED_SHARE))
"""All samples of an audit."""


@dataclass(frozen=True, slots=True)
class BadSubmission:
    """One submission with a bad fate."""

    name: str
    """Name of the job."""
    id: str
    """The id that its client got; empty if no answer came."""
    fate: str
    found: str = ""
    """Id of the last job of that name that was found."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The fates of the submissions of one test to one target, by one audit."""

    number: int
    """Of the audit: in the tables of findings, and in run.json."""
    target: str
    test: str
    """Empty where nothing could be asked of the target."""
    fault: int
    """Place in the suite's list of the fault that it came after, from 0; -1: the end of the run."""
    after: str
    """What it came after, in words: `kill of ce at 5 s in submit`, or `the run`."""
    load: str
    """Test whose load had the fault; empty at the end of the run."""
    time: int
    claims: int
    """Submissions that the test claimed until then."""
    looked: int
    """Those of them whose fate was found out."""
    acknowledged: int
    """Those of them that were acknowledged."""
    fates: dict[str, int]
    """Word of plugin.batch.Fate -> count, all of them."""
    ghosts: int
    """No reply, but the job exists."""
    lost_share: Figure
    """Share of the acknowledged ones that the system does not know any more."""
    states: dict[str, int]
    """State of a job -> how many are found in it."""
    bad: tuple[BadSubmission, ...] = ()
    """At most 20 of each bad fate."""
    problem: str = ""
    """Why not everything could be looked up, empty when it was."""


@dataclass(frozen=True, slots=True)
class JobReason:
    """Why jobs, or files, failed, equal reasons together. `name` has the first five of them, by name."""

    reason: str
    count: int
    name: str


@dataclass(frozen=True, slots=True)
class JobsResult:
    """How the jobs of one test ended, by its detached operation `job`; or its files, by `recall`."""

    test: str
    states: dict[str, int]
    """completed, failed, cancelled, … (STATES) -> count; those that there are."""
    failed: Figure
    """Share of what failed or was forgotten among that and what completed: a cancelled one says nothing about the
    system.
    """
    reasons: tuple[JobReason, ...] = ()
    """The most frequent ones, at most 50."""
    more_reasons: int = 0


STATES = (
    "completed",
    "failed",
    "forgotten by the system",
    "refused",
    "no answer",
    Cause.CANCELLED.word,
    "not over at the end",
    "lost with its place",
)
"""How a job, or a file, may end, in the order in which it is shown."""


def states_of(found: Iterable[JobsResult]) -> list[str]:
    """Return the states that any jobs ended in, in the order in which they are shown: a column each."""
    seen = {state for each in found for state in each.states}
    return [state for state in STATES if state in seen]
