"""Several runs of one suite made into one record, in which they stand as further repeats.

Numbers are counted on: cases, places (and with them the ids of rows), visits and repeats of each run stand behind those
of the runs before it, so nothing collides and every row keeps its case, parent and place.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pileup.model.errors import NoRun, RecordError
from pileup.model.record import SampleRow
from pileup.record import files, sums
from pileup.record.convert import OPTIONS
from pileup.record.folder import RunFolder
from pileup.record.operations import connect, quoted, readable
from pileup.record.output import folder_name
from pileup.record.parts import Parts

NUMBERED = re.compile(r"(?:#\d+)?(~\d+)?$")
"""How a case's name tells repeat and loop: `copy#2~1`."""
VISIT = re.compile(r"\bvisit=(\d+)")
"""How samples that are told once per visit name it: the time to rest, what became of submissions."""
MOST_PLACES = 1 << 16
AT_ONCE = 10_000
"""Rows in memory at once."""
SHIFT = 48
"""Bits of an id below its place."""


@dataclass(frozen=True, slots=True)
class Source:
    """One run with what is added to its numbers."""

    folder: RunFolder
    info: dict[str, Any]
    cases: int
    places: int
    visits: int
    repeats: int
    audits: int

    def name(self, case: dict[str, Any]) -> str:
        """Return what a case is called among all repeats: `copy#3`."""
        name = str(case["name"])
        found = NUMBERED.search(name)
        begin = found.start() if found else len(name)
        return f"{name[:begin]}#{self.repeats + int(case.get('repeat') or 1)}{(found and found[1]) or ''}"


def merge(folders: Sequence[RunFolder], base: Path) -> tuple[RunFolder, dict[str, Any]]:
    """Write a new run folder below `base`; return it with its run.json, which has neither verdict nor exit code yet.

    Raises RecordError when the runs cannot be taken together, or the disk refuses.
    """
    sources = _sources(folders)
    info = _info(sources)
    made = RunFolder.create(base, f"{info.get('title', '')} merged", int(info["started"]))
    made.save(info)
    try:
        for source in sources:
            _operations(source, made)
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
    return made, info


def _sources(folders: Sequence[RunFolder]) -> list[Source]:
    found: list[Source] = []
    cases = places = visits = repeats = audits = 0
    for folder in folders:
        info = folder.info()
        _check(folder, info, found)
        found.append(Source(folder, info, cases, places, visits, repeats, audits))
        audits += 1 + max((int(told["number"]) for told in info.get("audits") or []), default=-1)
        cases += max((int(case["id"]) for case in info["cases"]), default=0)
        visits += 1 + max((int(case.get("visit", -1)) for case in info["cases"]), default=-1)
        repeats += max((int(case.get("repeat") or 1) for case in info["cases"]), default=1)
        places += folder.next_place()
    if places > MOST_PLACES:
        raise RecordError(f"these runs have {places} places", f"at most {MOST_PLACES} together")
    return found


def _check(folder: RunFolder, info: dict[str, Any], before: Sequence[Source]) -> None:
    name = folder.path.name
    if info.get("ended") is None:
        raise NoRun(f"{name} has not ended", "runs that have", "`pileup resume` finishes one that has crashed")
    if Parts(folder.path / "operations").tables():
        raise NoRun(f"{name} is not converted to Parquet", "runs that ended in order", f"pileup resume {name}")
    if any(source.folder.path == folder.path for source in before):
        raise NoRun(f"{name} is named twice", "each run once: its rows would be counted twice")
    if before and _digest(info) != _digest(before[0].info):
        other = before[0].folder.path.name
        raise NoRun(
            f"{name} and {other} are runs of different suites, or with different values",
            "runs of the same suite: they stand as repeats of each other",
            "`pileup compare` compares them",
        )


def _digest(info: dict[str, Any]) -> str:
    return str((info.get("suite") or {}).get("digest", ""))


def _info(sources: Sequence[Source]) -> dict[str, Any]:
    """Return run.json of all together: what is planned is that of the first, what happened is that of all."""
    infos = [source.info for source in sources]
    hosts = {str(host.get("name")): host for info in infos for host in info.get("hosts") or []}
    return {
        **infos[0],
        **_times(infos),
        "hosts": list(hosts.values()),
        "places": [
            {
                **place,
                "number": int(place["number"]) + source.places,
                "session": f"{source.places}:{place.get('session', '')}",
            }
            for source in sources
            for place in source.info.get("places") or []
        ],
        "void": [
            [int(case) + source.cases, int(place) + source.places]
            for source in sources
            for case, place in source.info.get("void") or []
        ],
        "repeat": sum(int(info.get("repeat") or 1) for info in infos),
        "cases": [_case(source, case) for source in sources for case in source.info["cases"]],
        "audits": [
            {**told, "number": int(told["number"]) + source.audits, "run": source.folder.path.name}
            for source in sources
            for told in source.info.get("audits") or []
        ],
        "fault_problems": [each for info in infos for each in info.get("fault_problems") or []],
        "stopped": next((str(info["stopped"]) for info in infos if info.get("stopped")), ""),
        "debug_build": any(info.get("debug_build") for info in infos),
        "until": None,
        "merged": [_told(source) for source in sources],
        "exit_code": None,
        "verdict": None,
    }


def _times(infos: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return begin and end of all. One session: nothing was taken up again in between."""
    begin, end = min(int(info["started"]) for info in infos), max(int(info["ended"]) for info in infos)
    return {"started": begin, "ended": end, "sessions": [{"started": begin, "ended": end}]}


def _told(source: Source) -> dict[str, Any]:
    """Return what run.json tells of a source: the numbers are those that were added to its own."""
    names = ("started", "ended", "versions", "exit_code", "verdict", "merged")
    numbers = {"cases": source.cases, "places": source.places, "repeats": source.repeats}
    return {"folder": str(source.folder.path), **{name: source.info.get(name) for name in names}, **numbers}


def _case(source: Source, case: dict[str, Any]) -> dict[str, Any]:
    visit = int(case.get("visit", -1))
    return {
        **case,
        "id": int(case["id"]) + source.cases,
        "name": source.name(case),
        "repeat": source.repeats + int(case.get("repeat") or 1),
        "visit": visit + source.visits if visit >= 0 else visit,
        "after": [int(number) + source.cases for number in case.get("after") or []],
    }


def _operations(source: Source, made: RunFolder) -> None:
    """Write the rows of a source as a Parquet file of their own, numbered by its first place."""
    added, parts = source.places << SHIFT, Parts(made.path / "operations")
    target = parts.parquet([parts.folder / f"{source.places}.table"])
    for number, path in enumerate(Parts(source.folder.path / "operations").parquets()):
        out = target if number == 0 else target.with_name(f"{target.stem}.{number}.parquet")
        with readable(path), connect() as connection:
            connection.execute("CREATE TEMP TABLE _cases (id UINTEGER, name VARCHAR)")
            names = [[int(case["id"]), source.name(case)] for case in source.info["cases"]]
            if names:
                connection.executemany("INSERT INTO _cases VALUES (?, ?)", names)
            connection.execute(
                f"""COPY (SELECT o.* REPLACE (o.id + {added}::UBIGINT AS id,
                    CASE WHEN o.parent = 0 THEN 0::UBIGINT ELSE o.parent + {added}::UBIGINT END AS parent,
                    coalesce(c.name, '') AS "case",
                    (CASE WHEN o.case_id = 0 THEN 0 ELSE o.case_id + {source.cases} END)::UINTEGER AS case_id,
                    (o.place + {source.places})::USMALLINT AS place)
                FROM read_parquet({quoted(path)}) o LEFT JOIN _cases c ON o.case_id = c.id)
                TO {quoted(out)} ({OPTIONS})"""  # noqa: S608  numbers and paths of ours
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
        fields = {name: value for name, value in event.items() if name not in ("number", "kind", "text")}
        for name, added in (("case", source.cases), ("place", source.places), ("visit", source.visits)):
            if isinstance(fields.get(name), int) and not isinstance(fields[name], bool):
                fields[name] += added
        fields.setdefault("run", source.folder.path.name)
        made.event(str(event.get("kind", "")), str(event.get("text", "")), **fields)


def _outputs(source: Source, made: RunFolder) -> None:
    for case in source.info["cases"]:
        kept = source.folder.path / "output" / folder_name(str(case["name"]))
        if kept.is_dir():
            shutil.copytree(kept, made.path / "output" / folder_name(source.name(case)))


def _notes(source: Source, made: RunFolder) -> None:
    path = source.folder.path / "notes.jsonl"
    if path.exists():
        with (made.path / "notes.jsonl").open("ab") as file:
            file.write(files.read(path))
