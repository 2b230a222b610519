"""Several runs of one suite made into one record, in which they count as further repeats, or as different places.

Numbers are counted on: cases, places (and with them the ids of rows), visits and repeats of each run come after those
of the runs before it, so nothing collides and every row keeps its case, parent and place.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from pileup.model.errors import NotARun, RecordError
from pileup.model.manifest import CaseEntry, Manifest, MergedRun, PlaceEntry, Session
from pileup.model.record import SampleRow
from pileup.record import files, sums
from pileup.record.convert import options
from pileup.record.folder import RunFolder
from pileup.record.merge_places import PLACE, AsPlaces, case_at, name_at, points_at, targets_of
from pileup.record.operations import caused, connect, quoted, readable
from pileup.record.output import folder_name
from pileup.record.parts import Parts

NUMBERED = re.compile(r"(?:#\d+)?(~\d+)?$")
"""Repeat and loop in the name of a case: `copy#2~1`."""
VISIT = re.compile(r"\bvisit=(\d+)")
"""Label of samples that are reported once per visit: the time to rest, the fates of submissions."""
MOST_PLACES = 1 << 16
AT_ONCE = 10_000
"""Rows in memory at once."""
SHIFT = 48
"""Bits of an id below its place."""


@dataclass(frozen=True, slots=True)
class Source:
    """One run with what is added to its numbers."""

    folder: RunFolder
    run: Manifest
    cases: int
    places: int
    visits: int
    repeats: int
    audits: int
    place: str = ""
    """The place that it becomes; empty: further repeats."""

    def name(self, case: CaseEntry) -> str:
        """Return the name of a case among all repeats, `copy#3`, or of its place, `copy[place=geneva]`."""
        if self.place:
            return name_at(case, self.place)
        found = NUMBERED.search(case.name)
        begin = found.start() if found else len(case.name)
        return f"{case.name[:begin]}#{self.repeats + case.repeat}{(found and found[1]) or ''}"


def merge(folders: Sequence[RunFolder], base: Path, places: AsPlaces | None = None) -> tuple[RunFolder, Manifest]:
    """Write a new run folder below `base`; return it with its run.json, which has neither verdict nor exit code yet.

    Runs become further repeats, or the values of a first axis `place`. Raises RecordError when they cannot be taken
    together, or the disk refuses.
    """
    sources = _sources(folders, places)
    run = _together(sources) if places is None else _by_place(sources, places.names)
    made = RunFolder.create(base, f"{run.title} merged", run.started)
    made.save(run)
    try:
        for source in sources:
            for folder in ("operations", "served"):
                _operations(source, made, folder)
            _frames(source, made)
            _samples(source, made)
            _audits(source, made)
            _events(source, made)
            _outputs(source, made)
            _notes(source, made)
    except OSError as problem:
        raise RecordError(f"{made.path} cannot be written: {problem}", "room on the disk") from problem
    finally:
        made.close()
    return made, run


def _sources(folders: Sequence[RunFolder], apart: AsPlaces | None) -> list[Source]:
    found: list[Source] = []
    cases = places = visits = repeats = audits = 0
    if apart is not None:
        apart.check_names(len(folders))
    for number, folder in enumerate(folders):
        run = folder.manifest()
        _check(folder, run, found)
        if apart is None:
            _check_alike(folder, run, found)
        else:
            first = found[0] if found else Source(folder, run, 0, 0, 0, 0, 0)
            apart.check(folder.path.name, run, first.folder.path.name, first.run)
        folder.check_tables()
        found.append(Source(folder, run, cases, places, visits, repeats, audits, apart.names[number] if apart else ""))
        audits += 1 + max((audit.number for audit in run.audits), default=-1)
        cases += max((case.id for case in run.cases), default=0)
        visits += 1 + max((case.visit for case in run.cases), default=-1)
        repeats += 0 if apart else max((case.repeat for case in run.cases), default=1)
        places += folder.next_place()
    if places > MOST_PLACES:
        raise RecordError(f"these runs have {places} places", f"at most {MOST_PLACES} together")
    return found


def _check(folder: RunFolder, run: Manifest, before: Sequence[Source]) -> None:
    name = folder.path.name
    if not run.has_ended:
        raise NotARun(f"{name} has not ended", "runs that have", "`pileup resume` finishes one that has crashed")
    if any(Parts(folder.path / name).tables() for name in ("operations", "served")):
        raise NotARun(f"{name} is not converted to Parquet", "runs that ended in order", f"pileup resume {name}")
    if any(source.folder.path == folder.path for source in before):
        raise NotARun(f"{name} is named twice", "each run once: its rows would be counted twice")
    if before and run.simulated != before[0].run.simulated:
        told = ("is simulated", "was measured")
        raise NotARun(
            f"{name} {told[not run.simulated]} and {before[0].folder.path.name} {told[run.simulated]}",
            "runs that were measured, or simulated ones alone",
            "`pileup compare` compares them",
        )


def _check_alike(folder: RunFolder, run: Manifest, before: Sequence[Source]) -> None:
    if before and run.suite.digest != before[0].run.suite.digest:
        name, other = folder.path.name, before[0].folder.path.name
        raise NotARun(
            f"{name} and {other} are runs of different suites, or with different values",
            "runs of the same suite: they count as repeats of each other",
            "`pileup compare` compares them; `--places NAME,NAME` merges runs from different places",
        )


def _together(sources: Sequence[Source]) -> Manifest:
    """Return run.json of all together: what is planned is that of the first, what happened is that of all."""
    runs = [source.run for source in sources]
    begin, end = min(run.started for run in runs), max(run.ended or 0 for run in runs)
    hosts = {host.name: host for run in runs for host in run.hosts}
    return replace(
        runs[0],
        started=begin,
        ended=end,
        sessions=(Session(begin, end),),  # one: nothing was resumed in between
        hosts=tuple(hosts.values()),
        places=tuple(_place(source, place) for source in sources for place in source.run.places),
        void=tuple(
            (case + source.cases, place + source.places) for source in sources for case, place in source.run.void
        ),
        repeat=sum(run.repeat for run in runs),
        cases=tuple(_case(source, case) for source in sources for case in source.run.cases),
        audits=tuple(
            replace(audit, number=audit.number + source.audits, run=source.folder.path.name)
            for source in sources
            for audit in source.run.audits
        ),
        fault_problems=tuple(each for run in runs for each in run.fault_problems),
        stopped=next((run.stopped for run in runs if run.stopped), ""),
        stopped_by=next((run.stopped_by for run in runs if run.stopped_by), None),
        debug_build=any(run.debug_build for run in runs),
        until=None,
        merged=tuple(map(_told, sources)),
        exit_code=None,
        verdict=None,
    )


def _by_place(sources: Sequence[Source], names: Sequence[str]) -> Manifest:
    """Return run.json of all together, with an axis more: the places."""
    runs = [source.run for source in sources]
    whole = _together(sources)
    return replace(
        whole,
        repeat=max(run.repeat for run in runs),
        labels={name: text for name, text in whole.labels.items() if {run.labels.get(name) for run in runs} == {text}},
        scan={PLACE: tuple(names), **whole.scan},
        points=tuple(points_at(whole, names)),
        targets=tuple(targets_of(runs, names)),
    )


def _told(source: Source) -> MergedRun:
    """Return what run.json reports on a source: the numbers are those that were added to its own."""
    run = source.run
    return MergedRun(
        folder=str(source.folder.path),
        started=run.started,
        ended=run.ended,
        versions=run.versions,
        exit_code=run.exit_code,
        verdict=run.verdict,
        merged=run.merged or None,
        cases=source.cases,
        places=source.places,
        repeats=source.repeats,
        place=source.place,
        clock_error=run.hosts[0].clock_error if source.place and run.hosts else None,
    )


def _place(source: Source, place: PlaceEntry) -> PlaceEntry:
    name = f"{source.place}: {place.name}" if source.place else place.name
    session = f"{source.places}:{place.session}"
    return replace(place, number=place.number + source.places, name=name, session=session)


def _case(source: Source, case: CaseEntry) -> CaseEntry:
    named = case_at(case, source.place, bool(source.run.points)) if source.place else case
    return replace(
        named,
        id=case.id + source.cases,
        name=source.name(case),
        repeat=source.repeats + case.repeat,
        visit=case.visit + source.visits if case.visit >= 0 else case.visit,
        after=tuple(number + source.cases for number in case.after),
    )


def _operations(source: Source, made: RunFolder, folder: str) -> None:
    """Write the rows of a source as a Parquet file of their own, numbered by its first place."""
    added, parts = source.places << SHIFT, Parts(made.path / folder)
    target = parts.parquet([parts.folder / f"{source.places}.table"])
    for number, path in enumerate(Parts(source.folder.path / folder).parquets()):
        out = target if number == 0 else target.with_name(f"{target.stem}.{number}.parquet")
        with readable(path), connect() as connection:
            connection.execute("CREATE TEMP TABLE _cases (id UINTEGER, name VARCHAR)")
            names = [[case.id, source.name(case)] for case in source.run.cases]
            if names:
                connection.executemany("INSERT INTO _cases VALUES (?, ?)", names)
            connection.execute(
                f"""COPY (SELECT o.* REPLACE (o.id + {added}::UBIGINT AS id,
                    CASE WHEN o.parent = 0 THEN 0::UBIGINT ELSE o.parent + {added}::UBIGINT END AS parent,
                    coalesce(c.name, '') AS "case",
                    (CASE WHEN o.case_id = 0 THEN 0 ELSE o.case_id + {source.cases} END)::UINTEGER AS case_id,
                    (o.place + {source.places})::USMALLINT AS place)
                FROM ({caused(connection, path)}) o LEFT JOIN _cases c ON o.case_id = c.id)
                TO {quoted(out)} ({options(made.manifest())})"""  # noqa: S608  numbers and paths of ours
            )
        sums.add(out)


def _frames(source: Source, made: RunFolder) -> None:
    for frame in source.folder.frames():
        made.append_frame(replace(frame, place=frame.place + source.places, case=frame.case + source.cases))


def _samples(source: Source, made: RunFolder) -> None:
    rows = (_sample(source, row) for row in source.folder.samples())
    while waiting := list(islice(rows, AT_ONCE)):
        made.append_samples(waiting)


def _audits(source: Source, made: RunFolder) -> None:
    """Copy what was submitted and what became of it; cases and audits get their new numbers."""
    claims = (replace(claim, case=claim.case + source.cases) for claim in source.folder.claims())
    while some := list(islice(claims, AT_ONCE)):
        made.append_claims(some)
    findings = (
        replace(each, audit=each.audit + source.audits, claim=replace(each.claim, case=each.claim.case + source.cases))
        for each in source.folder.findings()
    )
    while found := list(islice(findings, AT_ONCE)):
        made.append_findings(found)


def _sample(source: Source, row: SampleRow) -> SampleRow:
    if not source.visits or not VISIT.search(row.sample.labels):
        return row
    labels = VISIT.sub(lambda found: f"visit={int(found[1]) + source.visits}", row.sample.labels)
    return replace(row, sample=replace(row.sample, labels=labels))


def _events(source: Source, made: RunFolder) -> None:
    """Copy events with their times; cases and places get their new numbers."""
    for event in source.folder.events():
        fields = {name: value for name, value in event.words.items() if name not in ("number", "kind", "text")}
        for name, number, added in (
            ("case", event.case, source.cases),
            ("place", event.place, source.places),
            ("visit", event.visit, source.visits),
        ):
            if isinstance(number, int):
                fields[name] = number + added
        fields.setdefault("run", source.folder.path.name)
        made.event(event.kind, event.text, **fields)


def _outputs(source: Source, made: RunFolder) -> None:
    for case in source.run.cases:
        kept = source.folder.path / "output" / folder_name(case.name)
        if kept.is_dir():
            shutil.copytree(kept, made.path / "output" / folder_name(source.name(case)))


def _notes(source: Source, made: RunFolder) -> None:
    path = source.folder.path / "notes.jsonl"
    if path.exists():
        with (made.path / "notes.jsonl").open("ab") as file:
            file.write(files.read(path))
