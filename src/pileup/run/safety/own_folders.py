"""Where a run works on its targets: a folder of its own on each, and the folders that a suite names as they are.

Everything in its own folder, whose name nobody else knows, belongs to the run. In a folder that a suite names ("just
here") a marker keeps a second run out, nothing that is there is touched, and what is new is created as new.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pileup.model.errors import TargetError
from pileup.model.journal import JournalEntry
from pileup.model.loads.load import Load
from pileup.model.plan import Case, Plan
from pileup.model.program import Keys, Program, Step
from pileup.model.suite import TargetSpec
from pileup.model.verbs import Makes, Moves, Names
from pileup.plugin import Failed, FileTarget, Refused, Target, ThereAlready
from pileup.plugin.catalogue import CatalogueTarget
from pileup.record import RunFolder
from pileup.run.safety.boundary import changing, place_inside, shown
from pileup.run.safety.leaving import LEFT, STAYS, end_ground, end_names
from pileup.run.safety.marker import MARKER, new_marker, told_by
from pileup.run.safety.set_contents import Made, acknowledged, existing, is_missing, made_by, read_small
from pileup.suite.instances import class_of_target

OWN, GROUND = "own", "ground"
"""Kinds of the journal's entries: the run's own folder, and one that the suite names."""
PLACELESS = (Names.NONE, Names.URL)
"""The key of steps without an object."""
PRIVATE_WORD = "folder"
"""Setting of `launch` that gives a private server a folder which was there before."""


def is_private(spec: TargetSpec) -> bool:
    """Whether a whole target is the run's own: it is made for the run, and removed with it."""
    return spec.url is None and not (spec.launch or {}).get(PRIVATE_WORD)


def with_own(plan: Plan, folder: RunFolder) -> Plan:
    """Return the plan with the name of the run's own folder on each target: that of before, or a new one.

    It is the same on all of them: two targets may be one storage, reached by two protocols.
    """
    known = {target: entry.folder for target, entry in own_entries(folder).items()}
    names = [path.rpartition("/")[2] for path in known.values()]
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    last = names[0] if names else f"pileup-{stamp}-{secrets.token_hex(4)}"
    own = {}
    for name, spec in plan.suite.targets.items():
        if not is_private(spec):
            own[name] = known.get(name) or _own_name(plan, spec, last)
    return replace(plan, own=own)


def _own_name(plan: Plan, spec: TargetSpec, last: str) -> str:
    """Return the run's own folder on a target; of a catalogue what the names of the run begin with."""
    inside = plan.suite.limits.inside or ""
    if issubclass(class_of_target(spec.kind, Path(plan.folder)), CatalogueTarget):
        return inside.strip("/").partition("/")[2] + last
    return f"{place_inside(spec.url or '', inside)}/{last}".strip("/")


def own_entries(folder: RunFolder) -> dict[str, JournalEntry]:
    """Return target -> the journal's entry of the run's own folder there, where it was made and not removed."""
    return {entry.target: entry for entry in open_grounds(folder) if entry.what == OWN}


def open_grounds(folder: RunFolder) -> list[JournalEntry]:
    """Return the journal's entries of the folders that a run works in, or has kept."""
    found: dict[int, JournalEntry] = {}
    for entry in folder.journal_entries():
        if entry.what in (OWN, GROUND):
            if entry.state == "made":
                found[entry.number] = entry
            elif entry.state in ("removed", "gone", STAYS):
                found.pop(entry.of or 0, None)
    return list(found.values())


def in_own(own: str, keys: Keys) -> bool:
    """Whether names are in the run's own folder."""
    return bool(own) and all(f"{keys.name(k).strip('/')}/".startswith(f"{own}/") for k in range(len(keys.names) or 1))


def folder_of(keys: Keys) -> str:
    """Return the folder of names, relative to the target."""
    return keys.name(0).strip("/").rpartition("/")[0] if not keys.folders else keys.prefix.rpartition("/")[0].strip("/")


@dataclass(slots=True)
class OwnFolder:
    """A folder that the run works in."""

    entry: int
    """Of the journal."""
    levels: list[str]
    """Folders that were made for it, the outermost first."""


@dataclass(frozen=True, slots=True)
class PreparedWrites:
    """How a case may write: its programs, and the steps that make its names before the load."""

    first: Program | None
    """Makes the names that the load will write over and over; None: there are none."""
    load: Program | None


@dataclass(slots=True)
class OwnFolders:
    """The folders that a run works in. From the runner's thread and those of roles."""

    plan: Plan
    folder: RunFolder
    flush: Callable[[], object] = lambda: None
    """Brings every row so far into the record."""
    marker: bytes = b""
    """The content of the run's markers, the same in all folders."""
    _grounds: dict[tuple[str, str], OwnFolder] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        for entry in open_grounds(self.folder):
            self.marker = entry.marker.encode()
            self._grounds[entry.target, entry.folder] = OwnFolder(entry.number, list(entry.levels))
        self.marker = self.marker or new_marker(self.folder)

    def enter(self, case: Case, target: Target | None, *programs: Program | None) -> None:
        """Prepare the folder of a case: check that nothing of others is there, and write the marker.

        Raises TargetError for names that exist and a folder that another run works in, VerdictException where the
        storage refuses.
        """
        name = case.test.target or ""
        if name not in self.plan.own:
            return
        own = self.plan.own[name]
        if isinstance(target, CatalogueTarget):
            self._enter_catalogue(name, own)
        if not isinstance(target, FileTarget):
            return
        steps = [step for program in programs if program is not None for step in program.steps]
        writes = changing(programs)
        with self._lock:
            if any(in_own(own, step.keys) for step in writes):
                self._begin(name, target, own, OWN)
            elif any(in_own(own, step.keys) for step in steps if step.traits.names not in PLACELESS):
                self._check_written(name, target, own)
            self._enter_others(name, target, [made for made in made_by(writes) if not in_own(own, made.keys)])

    def _enter_catalogue(self, name: str, own: str) -> None:
        """Note in the journal what the names of the run begin with, before there are any."""
        with self._lock:
            if (name, own) not in self._grounds:
                told = {"target": name, "folder": own, "marker": self.marker.decode(), "levels": []}
                self._grounds[name, own] = OwnFolder(self.folder.journal(OWN, "made", **told), [])

    def enter_second(self, name: str, target: FileTarget) -> None:
        """Make the run's own folder on a second target, where something is sent to. Raises as `enter`."""
        if name in self.plan.own:
            with self._lock:
                self._begin(name, target, self.plan.own[name], OWN)

    def missing(self, target: Target | None, footing: PreparedWrites) -> Program | None:
        """Return what of the first program is left to be made: names that this run has made before are there."""
        if footing.first is None or not isinstance(target, FileTarget):
            return footing.first
        steps = []
        for step in footing.first.steps:
            there = existing(target, step.keys)
            number = len(step.keys.names) or step.keys.count
            left = tuple(key for key in (step.keys.name(k) for k in range(number)) if key.strip("/") not in there)
            if left:
                steps.append(replace(step, keys=Keys(names=left), repeat=len(left)) if there else step)
        return Program(tuple(steps)) if steps else None

    def known(self, name: str) -> set[str]:
        """Return the names on a target that this run has made."""
        self.flush()
        return acknowledged(self.folder, name)

    def leave(self, get: Callable[[str], Target | None]) -> list[str]:
        """Remove the folders with all that is the run's in them; return in words what stays, and why.

        `get` returns the open target of a name. What the suite keeps in the run's own folder keeps that.
        """
        told, kept = [], keeps(self.folder)
        for (name, place), ground in reversed(self._grounds.items()):
            target = get(name)
            if isinstance(target, CatalogueTarget):
                told += self._leave_catalogue(name, place, ground, target)
            if not isinstance(target, FileTarget):
                continue
            what = OWN if place == self.plan.own.get(name) else GROUND
            state, problem = end_ground(target, place, self.marker, ground.levels, own=what == OWN, kept=kept)
            self.folder.journal(what, state, of=ground.entry, target=name, problem=problem)
            if problem:
                again = f"; `pileup clean {self.folder.path}` tries again" if state == LEFT else ""
                told.append(f"files remain in the folder /{place} on target {name}: {problem}{again}")
            elif state == "kept":
                told.append(f"the folder /{place} on target {name} is kept, because the suite keeps files in it")
        self._grounds.clear()
        return told

    def _leave_catalogue(self, name: str, own: str, ground: OwnFolder, target: CatalogueTarget) -> list[str]:
        """Remove the names of the run from a catalogue; return in words what stays, and why."""
        state, problem = end_names(target, own, kept=keeps_names(self.plan, name))
        self.folder.journal(OWN, state, of=ground.entry, target=name, problem=problem)
        if not problem:
            return []
        return [f"names remain on target {name}: {problem}; `pileup clean {self.folder.path}` tries again"]

    def _check_written(self, name: str, target: FileTarget, own: str) -> None:
        """Raise TargetError where a test reads in the run's own folder, and none has written there."""
        if (name, own) in self._grounds or not is_missing(target, own):
            return
        raise TargetError(
            f"the folder is relative: it is in the run's own folder on target {name}, where no test has written",
            "a test that writes there before",
            "an absolute folder like /data is below the url itself",
        )

    def _enter_others(self, name: str, target: FileTarget, makes: list[Made]) -> None:
        for place in dict.fromkeys(folder_of(made.keys) for made in makes):
            if (name, place) not in self._grounds:
                self._look_for_others(name, target, place)
                self._look(name, target, [made for made in makes if folder_of(made.keys) == place])
                self._begin(name, target, place, "ground")
            else:
                self._look(name, target, [made for made in makes if folder_of(made.keys) == place])

    def _look(self, name: str, target: FileTarget, makes: list[Made]) -> None:
        """See that what is there under these names is this run's. Raises TargetError."""
        for made in makes:
            there = existing(target, made.keys)
            foreign = sorted(there.keys() - self.known(name)) if there else []
            if foreign:
                more = f", and {len(foreign) - 1} more" if len(foreign) > 1 else ""
                raise TargetError(
                    f"{shown(foreign[0])} on target {name} exists already{more}; this run did not make it",
                    "names that do not exist",
                    "give another folder, or a relative one, which is in the run's own folder",
                )

    def _look_for_others(self, name: str, target: FileTarget, place: str) -> None:
        """Raise TargetError when another run says that it works in a folder."""
        found = read_small(target, f"{place}/{MARKER}".lstrip("/"))
        if found is not None and found != self.marker:
            raise _occupied(name, place, found)

    def _begin(self, name: str, target: FileTarget, place: str, what: str) -> None:
        """Make a folder where it is not there, with the marker that says whose it is; the journal knows it before."""
        if (name, place) in self._grounds:
            return
        path, levels = f"{place}/{MARKER}".lstrip("/"), _missing(target, place)
        joined = place not in levels and read_small(target, path) == self.marker
        if what == OWN and place not in levels and not joined:
            raise TargetError(
                f"{place} on target {name} exists already; this run did not make it", "a name that does not exist"
            )
        told = {"target": name, "folder": place, "marker": self.marker.decode(), "levels": levels}
        entry = self.folder.journal(what, "made", **told)
        try:
            for level in levels:
                target.mkdir(level)
            if not joined:
                target.create(path, self.marker)
        except ThereAlready:
            self.folder.journal(what, "gone", of=entry, target=name)
            raise _occupied(name, place, read_small(target, path) or b"") from None
        except (Failed, Refused) as problem:
            state, left = end_ground(target, place, self.marker, levels, own=what == OWN, kept=False)
            self.folder.journal(what, state, of=entry, target=name, problem=left)
            raise _no_ground(name, self.plan.suite.targets[name].url, place, problem) from problem
        self._grounds[name, place] = OwnFolder(entry, levels)


def keeps_names(plan: Plan, target: str) -> bool:
    """Whether the suite keeps what it makes in a catalogue."""
    return any(case.test.target == target and case.test.cleanup == "never" for case in plan.cases)


def keeps(folder: RunFolder) -> bool:
    """Whether something in the run's own folder stays on purpose."""
    states: dict[int, bool] = {}
    for entry in folder.journal_entries():
        if entry.what == "objects":
            if entry.state == "made":
                states[entry.number] = False
            elif entry.of is not None:
                states[entry.of] = entry.state == "kept" and bool(entry.own)
    return any(states.values())


def prepared_writes(plan: Plan, case: Case, program: Program | None) -> PreparedWrites:
    """Return how a load writes: names outside of the run's own folder are made as new.

    What it writes over and over is made once before, as new, so that it is the run's own when it is replaced.
    """
    name = case.test.target or ""
    if program is None or name not in plan.own:
        return PreparedWrites(None, program)
    own = plan.own[name]
    first = [step for step in program.steps if _again(step, program, case.load) and not in_own(own, step.keys)]
    steps = tuple(
        replace(step, new=True) if step not in first and not in_own(own, step.keys) and _names_new(step) else step
        for step in program.steps
    )
    made = tuple(_made_first(step) for step in first)
    return PreparedWrites(Program(made) if made else None, replace(program, steps=steps))


def _missing(target: FileTarget, place: str) -> list[str]:
    """Return the folders on the way to a place, itself among them, that are not there yet."""
    parts = place.split("/") if place else []
    levels = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
    for at, level in enumerate(levels):
        if is_missing(target, level):
            return levels[at:]
    return []


def _occupied(name: str, place: str, found: bytes) -> TargetError:
    """Return what to raise for a folder that another run works in, by its marker."""
    who = told_by(found)
    return TargetError(
        f"the folder /{place} on target {name} is in use by {who}",
        "a folder in which no other run works",
        f"wait for its end; if it has crashed, `pileup clean {who.run}`, or remove the file {MARKER} there",
    )


def _no_ground(name: str, url: str | None, place: str, problem: Failed | Refused) -> Failed | Refused:
    """Return what to raise where a storage does not let a run make its folder, of the same class."""
    below = f"below {url}" if url else f"on target {name}"
    return type(problem)(
        f"the folder {place} cannot be made {below}: {problem.what}",
        problem.expected or "a folder in which you may write",
        problem.hint or "check the target's `credentials`, or give the url of another folder",
    )


def _names_new(step: Step) -> bool:
    return step.made is not None and step.traits.makes is Makes.FILE


def _again(step: Step, program: Program, load: Load) -> bool:
    """Whether a load may write a name a second time, with nothing that removes it in between."""
    if step.traits.moves is not Moves.OUT:
        return False
    gone = [other for other in program.steps if other.traits.deletes and other.traits.names is Names.ONE]
    deleted = [replace(other.keys, order=step.keys.order) for other in gone]
    if step.keys in deleted:
        return False
    times = load.number
    number = len(step.keys.names) or step.keys.count
    in_turn = step.keys.order == "sequential"
    return times is None or not in_turn or times * step.repeat * program.repeat > number


def _made_first(step: Step) -> Step:
    """Return the step that makes the names of a write: empty, as new."""
    keys = replace(step.keys, order="sequential")
    return Step("reserve", "write", keys, repeat=len(keys.names) or keys.count, new=True)
