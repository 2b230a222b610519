"""The suite as a state machine: events in, instructions out; no clock, no thread, no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from pileup.model.plan import Case, Plan
from pileup.model.record import FAILED, NOT_RUN, PASSED, CaseOutcome


@dataclass(frozen=True, slots=True)
class CaseEnded:
    """Event: a case that was begun has ended."""

    case: int
    outcome: CaseOutcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Event: nothing more shall begin."""

    reason: str


Event = CaseEnded | StopAsked


@dataclass(frozen=True, slots=True)
class Begin:
    """Instruction: begin this case."""

    case: Case


@dataclass(frozen=True, slots=True)
class Skip:
    """Instruction: this case is not run, and why."""

    case: Case
    reason: str
    outcome: CaseOutcome = NOT_RUN


@dataclass(frozen=True, slots=True)
class Finish:
    """Instruction: all cases have an outcome."""


Instruction = Begin | Skip | Finish


class SuiteMachine:
    """Walks through the cases of a plan in order; one case at a time."""

    def __init__(self, plan: Plan) -> None:
        self._waiting = list(plan.cases)
        self._names = {case.id: case.name for case in plan.cases}
        self._outcomes: dict[int, CaseOutcome] = {}
        self._stopped = ""

    def start(self) -> list[Instruction]:
        """Return the first instructions."""
        return self._advance()

    def on(self, event: Event) -> list[Instruction]:
        """Take an event and return what is to be done now."""
        match event:
            case CaseEnded():
                self._outcomes[event.case] = event.outcome
                return self._advance()
            case StopAsked():
                self._stopped = self._stopped or event.reason
                return []

    def _advance(self) -> list[Instruction]:
        """Skip cases that cannot run, up to one that can."""
        instructions: list[Instruction] = []
        while self._waiting:
            case = self._waiting.pop(0)
            hindrance = self._hindrance(case)
            if not hindrance:
                return [*instructions, Begin(case)]
            self._outcomes[case.id] = NOT_RUN
            instructions.append(Skip(case, hindrance))
        return [*instructions, Finish()]

    def _hindrance(self, case: Case) -> str:
        if self._stopped:
            return self._stopped
        for needed in case.after:
            outcome = self._outcomes.get(needed, NOT_RUN)
            if outcome != PASSED:
                return f"needs {self._names[needed]}, which {_in_words(outcome)}"
        return ""


def _in_words(outcome: CaseOutcome) -> str:
    return "failed" if outcome == FAILED else f"was {outcome}" if outcome == NOT_RUN else f"ended as {outcome}"
