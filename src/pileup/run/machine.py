"""The suite as a state machine: events in, instructions out; no clock, no thread, no I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from pileup.model.plan import WHOLE, Case, Plan
from pileup.model.record import FAILED, NOT_RUN, PASSED, SPARED, UNAVAILABLE, CaseOutcome


@dataclass(frozen=True, slots=True)
class CaseEnded:
    """Event: a case that was begun has ended."""

    case: int
    outcome: CaseOutcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class VisitFailed:
    """Event: the settings of a point could not be made; nothing of this visit can run."""

    visit: int
    reason: str


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Event: nothing more should begin."""

    reason: str


@dataclass(frozen=True, slots=True)
class NoMoreRepeats:
    """Event: no repeats after this one are needed."""

    repeat: int
    reason: str


Event = CaseEnded | VisitFailed | StopAsked | NoMoreRepeats


@dataclass(frozen=True, slots=True)
class EnterPoint:
    """Instruction: go to a point, with these settings of targets (target -> setting -> value)."""

    visit: int
    settings: dict[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class BeginCase:
    """Instruction: begin this case, and these roles with its load."""

    case: Case
    roles: tuple[Case, ...] = ()
    beside: bool = False
    """Whether others may begin while it is under way."""


@dataclass(frozen=True, slots=True)
class EndRoles:
    """Instruction: end these roles, and show how each ended."""

    roles: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Skip:
    """Instruction: this case is not run, and why."""

    case: Case
    reason: str
    outcome: CaseOutcome = NOT_RUN


@dataclass(frozen=True, slots=True)
class LeavePoint:
    """Instruction: the point is done: wait for its cool-down, and remove what was made for this visit."""

    visit: int


@dataclass(frozen=True, slots=True)
class Wait:
    """Instruction: nothing can begin before one of the cases under way has ended."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Instruction: all cases have an outcome."""


Instruction = EnterPoint | BeginCase | EndRoles | Skip | LeavePoint | Wait | Finish


class SuiteMachine:
    """Goes through the cases of a plan in order, one at a time, with tests that run alongside.

    `done` are cases of an earlier attempt that need not be run again. After each instruction that is answered by an
    event (Begin by CaseEnded; EndRoles by CaseEnded for each role; a failed Enter by VisitFailed) ask for more with
    `next`.

    With `parallel`, that many independent cases may run at a time:
    of one visit to a point, of different tests, none needing another, without roles. Their Begin says `beside`: it is
    answered later, while more is asked for; Wait is answered by the end of any of them.
    """

    def __init__(self, plan: Plan, done: Mapping[int, CaseOutcome] | None = None) -> None:
        self._outcomes: dict[int, CaseOutcome] = dict(done or {})
        self._cases = {case.id: case for case in plan.cases}
        self._most = plan.suite.parallel
        self._running: dict[int, Case] = {}
        """Cases begun and not ended, where several may be."""
        self._waiting = deque(case for case in plan.cases if not case.role and case.id not in self._outcomes)
        self._left = {case.id: self._mains_left(case) for case in plan.cases if case.role}
        """Cases that each role still waits for or runs alongside."""
        self._roles_of: dict[int, list[Case]] = {}
        for role in plan.cases:
            for number in self._left.get(role.id, ()):
                self._roles_of.setdefault(number, []).append(role)
        self._alive: dict[int, Case] = {}
        self._roles = deque(case for case in plan.cases if case.role)
        self._visit = WHOLE
        self._failed_visits: dict[int, str] = {}
        self._stopped = ""
        self._enough: NoMoreRepeats | None = None

    def _mains_left(self, role: Case) -> set[int]:
        return set() if role.id in self._outcomes else {each for each in role.beside if each not in self._outcomes}

    def take(self, event: Event) -> None:
        """Take notice of an event."""
        match event:
            case CaseEnded():
                self._outcomes[event.case] = event.outcome
                self._alive.pop(event.case, None)
                self._running.pop(event.case, None)
            case VisitFailed():
                self._failed_visits[event.visit] = event.reason
            case StopAsked():
                self._stopped = self._stopped or event.reason
            case NoMoreRepeats():
                self._enough = event

    def next(self) -> Instruction:
        """Return what is to be done now."""
        return (self._begin_beside() or Wait()) if self._running else self._next()

    def _next(self) -> Instruction:
        ended = tuple(role for role in self._alive.values() if not self._left[role.id])
        if ended:
            return EndRoles(ended)
        if not self._waiting:
            return self._close()
        case = self._waiting[0]
        if self._visit not in (WHOLE, case.visit):
            return self._leave()
        hindrance = self._hindrance(case)
        if not hindrance and case.visit != self._visit:
            self._visit = case.visit
            return EnterPoint(case.visit, case.settings)
        self._waiting.popleft()
        roles = self._roles_of.get(case.id, ())
        for role in roles:
            self._left[role.id].discard(case.id)
        if hindrance:
            self._outcomes[case.id] = hindrance[0]
            return Skip(case, hindrance[1], hindrance[0])
        fresh = tuple(role for role in roles if role.id not in self._outcomes and role.id not in self._alive)
        begun = tuple(role for role in fresh if not self._hindrance(role))
        self._alive.update({role.id: role for role in begun})
        beside = self._most > 1 and not roles and not self._alive
        if beside:
            self._running[case.id] = case
        return BeginCase(case, begun, beside)

    def _begin_beside(self) -> BeginCase | None:
        """Return the next case that may begin beside those under way; None when there is none, or no room."""
        if len(self._running) >= self._most or self._stopped:
            return None
        first = next(iter(self._running.values()))
        tests = {case.test.name for case in self._running.values()}
        for case in self._waiting:
            if case.visit != first.visit or case.id in self._roles_of:
                return None  # what comes after it has to wait, too
            ready = all(needed in self._outcomes for needed in case.after)
            if ready and case.test.name not in tests and not self._hindrance(case):
                self._waiting.remove(case)
                self._running[case.id] = case
                return BeginCase(case, beside=True)
        return None

    def _leave(self) -> LeavePoint:
        visit, self._visit = self._visit, WHOLE
        return LeavePoint(visit)

    def _close(self) -> Instruction:
        """Leave the last point, report why some roles never began, then finish."""
        if self._visit != WHOLE:
            return self._leave()
        while self._roles:
            role = self._roles.popleft()
            if role.id not in self._outcomes:
                outcome, reason = self._hindrance(role) or (NOT_RUN, self._never_began(role))
                self._outcomes[role.id] = outcome
                return Skip(role, reason, outcome)
        return Finish()

    def _never_began(self, role: Case) -> str:
        names = ", ".join(self._cases[number].name for number in role.beside)
        return f"runs alongside {names or 'nothing'}, which did not begin"

    def _hindrance(self, case: Case) -> tuple[CaseOutcome, str] | None:
        if self._enough and case.visit != WHOLE and case.repeat > self._enough.repeat:
            return SPARED, self._enough.reason
        if self._stopped:
            return NOT_RUN, self._stopped
        if case.visit in self._failed_visits:
            return UNAVAILABLE, self._failed_visits[case.visit]
        for needed in case.after:
            outcome = self._outcomes.get(needed, NOT_RUN)
            if outcome not in (PASSED, SPARED):
                return NOT_RUN, f"needs {self._cases[needed].name}, which {_in_words(outcome)}"
        return None


def _in_words(outcome: CaseOutcome) -> str:
    return "failed" if outcome == FAILED else f"was {outcome}" if outcome == NOT_RUN else f"ended as {outcome}"
