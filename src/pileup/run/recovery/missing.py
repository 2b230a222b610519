"""Data that a resumed run needs and that is not on its targets any more."""

from __future__ import annotations

from collections.abc import Mapping

from pileup.model.errors import PileupError
from pileup.model.journal import JournalEntry
from pileup.model.plan import Plan
from pileup.plugin import FileTarget
from pileup.record import RunFolder
from pileup.run.safety.boundary import Names
from pileup.run.safety.marker import MARKER
from pileup.run.safety.own_folders import GROUND, OWN, open_grounds
from pileup.run.safety.set_contents import acknowledged, existing, made_by, read_small
from pileup.run.targets.asking import probe
from pileup.suite import instances


def lost(folder: RunFolder, plan: Plan, made: Mapping[int, int]) -> set[int]:
    """Return the cases whose data is gone, whole or in part, of those in `made`: case -> its entry of the journal.

    The journal records what is gone. If a target cannot be checked now, its data counts as present.
    """
    entries = {entry.number: entry for entry in folder.journal_entries()}
    by_target: dict[str, dict[int, JournalEntry]] = {}
    for case, number in made.items():
        by_target.setdefault(entries[number].target, {})[case] = entries[number]
    found: set[int] = set()
    for name, cases in by_target.items():
        spec = plan.suite.targets.get(name)
        if spec is None or spec.url is None:
            continue
        try:
            target = instances.make_target(plan, name, spec.url)
            if isinstance(target, FileTarget):
                probe(name, target)
                found |= _lost_on(folder, name, target, cases)
        except PileupError:
            continue
    for case in found:
        folder.journal("objects", "gone", of=made[case], case=plan.case(case).name)
    return found


def _lost_on(folder: RunFolder, name: str, target: FileTarget, cases: dict[int, JournalEntry]) -> set[int]:
    gone = set()
    for ground in open_grounds(folder):
        path = f"{ground.folder}/{MARKER}".lstrip("/")
        kept = ground.what == GROUND  # without its marker a folder of the suite's may hold the data still
        if ground.target == name and not kept and read_small(target, path) != ground.marker.encode():
            folder.journal(OWN, "gone", of=ground.number, target=name)
            gone |= {case for case, entry in cases.items() if entry.own}
    known = acknowledged(folder, name)
    for case, entry in cases.items():
        for made in made_by(entry.made):
            names = Names()
            names.add(made.keys)
            if case not in gone and {each for each in known if names.has(each)} - existing(target, made.keys).keys():
                gone.add(case)
    return gone
