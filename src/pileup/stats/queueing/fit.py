"""A system that does what a record shows: drives, their times and their order, projects and their work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pileup.model.errors import PileupError
from pileup.model.exits import ExitCode
from pileup.model.units import counted
from pileup.stats.queueing.history import History, Request
from pileup.stats.queueing.machine import Asks, Demand, Drives, Service

FEWEST = 20
"""Files of a kind that make a law of times."""
MOST_FAILED = 0.02
"""Share of files that may have failed: others do not wait behind what does not come."""
CLEAR = 0.9
"""Share of the files that waited which must have waited at the same limit."""
SATURATED = 0.05
"""Share of the time in which all drives must have been at work: otherwise there may be more than were seen."""


class CannotPredict(PileupError):
    """A record cannot carry the model."""

    exit_code = ExitCode.UNKNOWN


@dataclass(frozen=True, slots=True)
class System:
    """What was found: the drives, and the projects."""

    drives: Drives
    demand: Demand
    busy: float
    """Share of the time in which all drives were at work, where it was largest."""


def fit(known: Sequence[History]) -> System:
    """Return the system that did what these cases show, which must have the same projects. Raises CannotPredict."""
    for history in known:
        _check(history)
    demand = _demand(known[0])
    for other in known[1:]:
        if [each.groups for each in _demand(other).projects] != [each.groups for each in demand.projects]:
            raise CannotPredict(
                f"{known[0].name} and {other.name} have other projects",
                "the same load at all settings",
                "fit it to one of them, or record a load whose arrivals are not random",
            )
    number = max(len({each.drive for each in history.requests}) for history in known)
    busy = max(_saturated(history, number) for history in known)
    if busy < SATURATED:
        raise CannotPredict(
            f"{counted(number, 'drive')} served, and all of them at a time for only {busy:.1%} of the time",
            f"{SATURATED:.0%} or more: otherwise how many there are does not show",
            "record a load that keeps all drives busy",
        )
    served = [each for history in known for each in _served(history)]
    change = [service for service, same in served if not same]
    same = [service for service, same in served if same]
    if len(change) < FEWEST:
        raise CannotPredict(
            f"a drive changed to files of another folder {counted(len(change), 'time')}",
            f"{FEWEST} or more",
            "record more",
        )
    order = [each for history in known for each in _choices(history)]
    drives = Drives(
        number,
        change,
        same if len(same) >= FEWEST else change,
        sum(order) / len(order) if order else 1.0,
        not any(_shared(history) for history in known),
    )
    work = [each for history in known for project in history.projects for each in project.work] or [0]
    return System(drives, replace(demand, work=work), busy)


def _check(history: History) -> None:
    """Raise CannotPredict for what the model does not have."""
    if history.cached:
        raise CannotPredict(
            f"{counted(history.cached, 'file')} of {history.name} were asked from a cache",
            "a record without one: the model has no caches",
            "record it without, or simulate the setting that you want",
        )
    if history.failed > MOST_FAILED * (len(history.requests) + history.failed):
        raise CannotPredict(
            f"{counted(history.failed, 'file')} of {history.name} did not come",
            f"{MOST_FAILED:.0%} of them or less: the model has no failures",
            "record it again when the system is whole",
        )
    if unknown := sum(not each.drive for each in history.requests):
        raise CannotPredict(
            f"which drive read it is not known of {counted(unknown, 'file')} of {history.name}",
            "the drive and the times of each, which a system that is polled does not say",
            "record it on a practice tape library with the settings of yours: pileup help practice",
        )
    waited = sum(history.limits.values())
    if history.limit is not None and history.limits[history.limit] < CLEAR * waited:
        seen = ", ".join(map(str, sorted(history.limits)))
        raise CannotPredict(
            f"files of {history.name} waited at their stager while {seen} of its requests were with the library",
            "one limit for all stagers",
            "record it with one setting",
        )
    nodes: dict[int, set[str]] = {}
    for each in history.requests:
        nodes.setdefault(each.project, set()).add(each.node)
    if any(len(each) > 1 for each in nodes.values()):
        raise CannotPredict(f"projects of {history.name} use several stagers each", "one stager for a project")


def _demand(history: History) -> Demand:
    """Return who asked for what; groups are numbered by project, as names differ between cases.

    A project that began when it was due is a client of its own: it waits for no other one.
    """
    groups: dict[int, list[str]] = {}
    for each in history.requests:
        groups.setdefault(each.project, []).append(each.group)
    numbers: dict[str, str] = {}
    asks = []
    start = min(each.start for each in history.projects)
    first: dict[int, Asks] = {}
    ended: dict[int, int] = {}
    left: dict[int, int] = {}
    for project in history.projects:
        names = tuple(numbers.setdefault(each, str(len(numbers))) for each in groups[project.number])
        client = project.number if history.open else project.client
        pause = max(0, project.start - ended.get(client, project.start))
        asks.append(Asks(client, project.node, project.start - start, names, project.ahead, pause))
        if client not in ended:
            first[project.number], left[project.number] = asks[-1], project.ahead
        ended[client] = project.end
    opening = []
    for each in history.requests:
        if left.get(each.project):
            left[each.project] -= 1
            opening.append((max(each.asked - start, first[each.project].start), first[each.project].client))
    return Demand(asks, opening, ())


def _by_drive(history: History) -> Iterator[list[Request]]:
    drives: dict[str, list[Request]] = {}
    for each in sorted(history.requests, key=lambda each: each.delivered):
        drives.setdefault(each.drive, []).append(each)
    yield from drives.values()


def _served(history: History) -> Iterator[tuple[Service, bool]]:
    """Yield how long a drive was busy with each file, and whether it had read one of that group before."""
    for requests in _by_drive(history):
        free, group = 0, None
        for each in requests:
            yield Service(each.delivered - max(free, each.handed), each.delivered - each.begun), each.group == group
            free, group = each.delivered, each.group


def _saturated(history: History, number: int) -> float:
    """Return the share of the time in which all drives were at work."""
    changes = []
    for requests in _by_drive(history):
        free = 0
        for each in requests:
            changes += [(max(free, each.handed), 1), (each.delivered, -1)]
            free = each.delivered
    changes.sort()
    busy = all_busy = before = 0
    for time, change in changes:
        all_busy += time - before if busy >= number else 0
        busy, before = busy + change, time
    return all_busy / max(1, changes[-1][0] - changes[0][0])


def _choices(history: History) -> Iterator[bool]:
    """Yield whether a drive went on with its group, each time that an older request of another one waited."""
    taken: dict[Request, int] = {}
    pairs = []
    for requests in _by_drive(history):
        free = 0
        for before, each in zip([None, *requests], requests, strict=False):
            taken[each] = max(free, each.handed)
            if before and each.handed < before.delivered:
                pairs.append((before, each))
            free = each.delivered
    for before, each in pairs:
        now = before.delivered
        waiting = [other for other in history.requests if other.handed < now <= taken[other]]
        of_group = [other for other in waiting if other.group == before.group]
        if of_group and min(waiting, key=lambda other: other.handed).group != before.group:
            yield each.group == before.group


def _shared(history: History) -> bool:
    """Whether two drives read files of one group at a time."""
    groups: dict[str, list[Request]] = {}
    for each in history.requests:
        groups.setdefault(each.group, []).append(each)
    return any(
        one.begun < other.delivered and other.begun < one.delivered and one.drive != other.drive
        for requests in groups.values()
        for place, one in enumerate(requests)
        for other in requests[place + 1 :]
    )
