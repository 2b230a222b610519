"""Resuming a run that was interrupted: which cases are done, and which must be repeated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pileup._core._native import now
from pileup.model.errors import UsageError
from pileup.model.journal import EventEntry
from pileup.model.manifest import CaseEntry, Manifest, RunState, Session
from pileup.model.plan import Case, Plan
from pileup.model.record import NOT_RUN, UNAVAILABLE, CaseOutcome
from pileup.record import RunFolder
from pileup.run.manifest import as_new
from pileup.run.recovery import leftovers
from pileup.run.recovery.intents import open_intents
from pileup.run.recovery.missing import lost
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.reload import reload
from pileup.run.recovery.requests import REQUESTS, open_requests
from pileup.run.recovery.undo_kinds import UndoReach

OVER = "every case has an outcome"
AGAIN = (NOT_RUN, UNAVAILABLE)
"""Outcomes of cases that another attempt may run."""


@dataclass(slots=True)
class EarlierSessions:
    """What the sessions before have left of a run."""

    held: leftovers.HeldRun
    """The lock of the run, which goes on to be held."""
    folder: RunFolder
    plan: Plan
    run: Manifest
    """run.json, made ready for the session that begins now."""
    done: dict[int, CaseOutcome]
    """Cases that stay as they are."""
    objects: dict[int, int] = field(default_factory=dict)
    """Case -> journal entry of its objects that were not removed."""
    told: list[str] = field(default_factory=list)
    """What was cleaned up after a crash, in words."""


def take_up(
    path: Path,
    given: Mapping[str, str] | None = None,
    trusted: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> EarlierSessions:
    """Return what is left to do of the run in a folder. `given` are values of the suite that the record hides.

    `trusted`: although this user's registry does not know it. `tell` is called with what will be executed from the
    suite to clean up after a crash, before it is. Raises UsageError when the run goes on, is not known, the suite has
    changed or nothing is left to do, RecordError or SuiteError when the folder or the suite cannot be read.
    """
    folder = RunFolder.open(path)
    if leftovers.alive(folder):
        raise UsageError(
            f"{path} is still running: its process is active",
            "a run that was stopped or has crashed",
            "Ctrl-C ends it in order",
        )
    if folder.manifest().simulated:
        raise UsageError(f"{path} is simulated: its time is virtual", "a run that was measured", "simulate it again")
    if _over(folder.manifest()):
        raise UsageError(f"{path}: {OVER}", "a run with something left to do", "`pileup show` it")
    trust = Trust.of(folder, trusted)
    trust.check(folder, "nothing of its suite is executed")
    held = leftovers.take(folder)
    try:
        return _take_up(held, given or {}, trust, tell)
    except BaseException:
        held.lock.release(done=False)
        raise


def _over(run: Manifest) -> bool:
    """Return whether a run has ended with an outcome of every case, none of them broken off."""
    left = (case.cut or case.outcome in (None, *AGAIN) for case in run.cases)
    return run.state is RunState.ENDED and not any(left)


def _take_up(
    held: leftovers.HeldRun, given: Mapping[str, str], trust: Trust, tell: Callable[[str], None]
) -> EarlierSessions:
    folder = held.folder
    run = folder.manifest()  # again: until the lock was taken it may have changed
    plan = reload(run, given, trust, tell=tell)
    done = _done(folder, plan)
    objects = _objects(folder, plan)
    gone = {name for name, spec in plan.suite.targets.items() if spec.url is None}
    objects = _requests(folder, plan) | objects
    again = _again(plan, done, objects, gone)
    if again:
        there = {number: made.entry for number, made in objects.items() if made.state not in ("removed", "gone")}
        for number in lost(folder, plan, {number: there[number] for number in done if number in there}):
            objects[number] = _Made(objects[number].entry, "gone")
        again = _again(plan, done, objects, gone)
    if not again and run.state is RunState.ENDED:
        raise UsageError(f"{folder.path}: {OVER}", "a run with something left to do", "`pileup show` it")
    told = [str(each) for each in leftovers.put_right(folder, trust, UndoReach.SETTINGS, given, tell=tell, held=held)]
    run = _made_ready(run, again, _outcomes(folder, plan), folder.next_place())
    left = {number: made.entry for number, made in objects.items() if made.state in ("made", "left")}
    for number in [number for number in left if plan.case(number).test.target in gone]:
        folder.journal("objects", "gone", of=left.pop(number), case=plan.case(number).name)
    return EarlierSessions(
        held, folder, plan, run, {number: done[number] for number in done if number not in again}, left, told
    )


def _outcomes(folder: RunFolder, plan: Plan) -> dict[int, EventEntry]:
    """Return the newest event of each case: events are there at once, run.json follows within a second."""
    known = {case.id for case in plan.cases}
    events = (event for event in folder.events() if event.kind == "case")
    return {event.case: event for event in events if isinstance(event.case, int) and event.case in known}


def _done(folder: RunFolder, plan: Plan) -> dict[int, CaseOutcome]:
    found = {}
    for number, event in _outcomes(folder, plan).items():
        if event.ended is not None and not event.cut and event.ended not in AGAIN:
            found[number] = event.ended
    return found


@dataclass(frozen=True, slots=True)
class _Made:
    """What a case has made, by the journal."""

    entry: int
    state: str
    """made, removed, kept (as the suite wishes), left (it could not be removed), gone (with what held it)."""


def _objects(folder: RunFolder, plan: Plan) -> dict[int, _Made]:
    """Return case -> what it has made last, by its id."""
    numbers = {case.name: case.id for case in plan.cases}
    found: dict[int, _Made] = {}
    cases: dict[int, int] = {}
    for entry in folder.journal_entries():
        if entry.what != "objects":
            continue
        opened = entry.number if entry.of is None else entry.of
        case = cases.get(opened, numbers.get(entry.case, 0))
        if case:
            cases[opened], found[case] = case, _Made(opened, entry.state)
    return found


def _requests(folder: RunFolder, plan: Plan) -> dict[int, _Made]:
    """Return case -> its stage requests, of which nobody knows any more what has come of them: they are deleted."""
    numbers = {case.name: case.id for case in plan.cases}
    found = (each for each in open_intents(folder) if each.what == REQUESTS and each.entry.case in numbers)
    left = [each for each in found if any(open_requests(folder, each.entry.stamp))]
    return {numbers[each.entry.case]: _Made(each.number, "gone") for each in left}


def _again(plan: Plan, done: dict[int, CaseOutcome], objects: dict[int, _Made], gone: set[str]) -> set[int]:
    """Return the cases to be done: those without an outcome, what they need of data that went, and their roles.

    A role that was broken off when its loads had ended just then is done again beside the last of them. `gone` are
    targets whose private server or folder held the data.
    """
    again = {case.id for case in plan.cases if case.id not in done}
    roles = [case for case in plan.cases if case.role]
    size = 0
    while size < len(again):
        size = len(again)
        for case in [plan.case(number) for number in again]:
            again |= {each for each in case.after if _lost_data(plan.case(each), objects, gone)}
        again |= {role.id for role in roles if again & set(role.beside)}
        again |= {role.beside[-1] for role in roles if role.id in again and not again & set(role.beside)}
    return again


def _lost_data(case: Case, objects: dict[int, _Made], gone: set[str]) -> bool:
    """Whether what a case made was removed, or went with a private server or folder that held it."""
    made = objects.get(case.id)
    if made is None:
        return False
    return made.state in ("removed", "gone") or not gone.isdisjoint(case.test.aims)


def _made_ready(run: Manifest, again: set[int], known: dict[int, EventEntry], places: int) -> Manifest:
    """Return run.json as the events say, with the cases to be done as if they had never begun."""

    def ready(entry: CaseEntry) -> CaseEntry:
        if entry.id in again:
            return as_new(entry)
        if entry.outcome is None:
            event = known[entry.id]
            return replace(entry, outcome=event.ended, reason=event.reason, ended=event.time)
        return entry

    begun = sorted(number for number in again if number in known)
    return replace(
        run,
        state=RunState.RUNNING,
        ended=None,
        stopped="",
        stopped_by=None,
        exit_code=None,
        verdict=None,
        sessions=(*run.sessions, Session(now())),
        cases=tuple(map(ready, run.cases)),
        void=(*run.void, *((number, place) for number in begun for place in range(places))),
    )
