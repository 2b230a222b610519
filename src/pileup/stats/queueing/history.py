"""What a record shows of staging: which file waited where, which drive delivered it, and what its process did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from pileup.record import RunFolder

T = TypeVar("T")
WAITS = ("stager_queue", "queue_wait", "transfer")
"""Operations of each file: before its stager hands it over, before its transfer begins, and the transfer."""
WORK = "work"
CACHED = ("hit", "shared", "miss")
"""Operations of each file where there is a cache."""
FIGURES = {
    "all": "all is over after",
    "project": "a project, mean",
    "stager_queue": "stager queue of a file, mean",
    "queue_wait": "queue wait of a file, mean",
    "idle": "idle wait for a file, mean",
}
"""What is predicted -> its title."""


class Request(NamedTuple):
    """One file from its request until it is there; times in ns since the epoch."""

    project: int
    node: str
    group: str
    drive: str
    asked: int
    handed: int
    begun: int
    delivered: int


class Project(NamedTuple):
    """One iteration: a client asks for files, and works on each."""

    number: int
    client: int
    start: int
    end: int
    node: str
    files: int
    ahead: int
    """Files it asked for at its beginning."""
    work: tuple[int, ...]
    """How long it worked on each file, in ns."""


@dataclass(frozen=True)
class History:
    """The staging of one case."""

    name: str
    point: Mapping[str, str]
    requests: tuple[Request, ...]
    projects: tuple[Project, ...]
    failed: int
    """Files that were asked for and did not come."""
    cached: int = 0
    """Files for which a cache was asked."""
    open: bool = False
    """Whether projects began when they were due; else a client began one when its one before had ended."""

    @cached_property
    def limit(self) -> int | None:
        """Requests that a stager had in the tape library while others waited at it; None: none waited.

        The most that were seen, where that varies: `limits` has all.
        """
        return max(self.limits, default=None)

    @cached_property
    def limits(self) -> Mapping[int, int]:
        """Requests in the library when another one of that node had to wait -> how many waited so."""
        found: dict[int, int] = defaultdict(int)
        for requests in _by(self.requests, lambda each: each.node).values():
            changes = sorted([(each.handed, 1) for each in requests] + [(each.delivered, -1) for each in requests])
            place, inside = 0, 0
            for each in sorted(requests, key=lambda each: each.asked):
                while place < len(changes) and changes[place][0] <= each.asked:
                    inside += changes[place][1]
                    place += 1
                if each.handed > each.asked and inside:
                    found[inside] += 1
        return dict(found)

    @cached_property
    def figures(self) -> dict[str, float]:
        """What is predicted, as it was measured; ns."""
        files = max(1, len(self.requests))
        projects = self.projects
        took = sum(each.end - each.start for each in projects)
        return {
            "all": float(max(each.end for each in projects) - min(each.start for each in projects)),
            "project": took / len(projects),
            "stager_queue": sum(each.handed - each.asked for each in self.requests) / files,
            "queue_wait": sum(each.begun - each.handed for each in self.requests) / files,
            "idle": (took - sum(sum(each.work) for each in projects)) / files,
        }


def histories(folder: RunFolder) -> Iterator[History]:
    """Yield the staging of each case that has all of it; rows of other phases than the measured one are left out.

    Of several repeats the first is taken: the model is checked at each, and more of them would show it little more.
    """
    run = folder.manifest()
    with folder.operations().connect() as connection:
        rows = connection.execute(
            f"""SELECT case_id, parent, id, key, operation, start, "end", labels, client, outcome FROM caused
            WHERE side = 'client' AND phase = 'measure'
            AND operation IN ('iteration', 'file', {", ".join(f"'{each}'" for each in (*WAITS, WORK, *CACHED))})"""  # noqa: S608
        ).fetchall()
    cases: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        cases[row[0]].append(row[1:])
    for case in (each for each in run.cases if each.repeat == each.loop == 1):
        found = _history(case.name, case.point, cases.get(case.id, []), case.load_kind == "open")
        if found is not None:
            yield found


def _history(name: str, point: Mapping[str, str], rows: list[tuple[Any, ...]], open_: bool) -> History | None:
    """Return the staging in the rows of one case; None where some stage of it is missing."""
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[row[3]].append(row)
    if not all(found[wait] for wait in ("iteration", *WAITS)):
        return None
    waits = {wait: {(row[0], row[2]): row for row in found[wait]} for wait in WAITS}
    order = {(row[0], row[2]): row[1] for row in found["file"]}
    requests = []
    for at, transfer in sorted(waits["transfer"].items(), key=lambda each: order.get(each[0], 0)):
        asked, queued = waits["stager_queue"].get(at), waits["queue_wait"].get(at)
        if asked is None or queued is None:
            continue
        node, drive = _label(asked[6], "node"), _label(transfer[6], "drive")
        group = _label(transfer[6], "cartridge") or at[1].rpartition("/")[0]
        requests.append(Request(at[0], node, group, drive, asked[4], queued[4], transfer[4], transfer[5]))
    requests.sort(key=lambda each: each.asked)
    cached = sum(len(found[each]) for each in CACHED)
    failed = 0 if cached else max(0, len(found["file"]) - len(requests))
    return History(name, point, tuple(requests), tuple(_projects(found, requests)), failed, cached, open_)


def _projects(found: Mapping[str, list[tuple[Any, ...]]], requests: list[Request]) -> Iterator[Project]:
    asked = _by(requests, lambda each: each.project)
    work = _by(found[WORK], lambda row: row[0])
    over = {number: min(row[5] for row in files) for number, files in _by(found["file"], lambda row: row[0]).items()}
    for _, number, _, _, start, end, _, client, _ in sorted(found["iteration"], key=lambda row: row[4]):
        mine = asked.get(number, [])
        if mine:
            ahead = sum(each.asked < over[number] for each in mine)  # another one only when it can open a file
            took = tuple(row[5] - row[4] for row in work.get(number, []))
            yield Project(number, client, start, end, mine[0].node, len(mine), ahead, took)


def _by(rows: Iterable[T], key: Callable[[T], Any]) -> dict[Any, list[T]]:
    found: dict[Any, list[T]] = defaultdict(list)
    for each in rows:
        found[key(each)].append(each)
    return found


def _label(labels: str, name: str) -> str:
    """Return the value of a label of `name=value,...`; empty where it is not there."""
    for each in labels.split(","):
        if each.startswith(f"{name}="):
            return each[len(name) + 1 :]
    return ""
