"""Submissions and their fates: tables of claims and findings, one of each per session of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pileup.model.record import ClaimRow, FindingRow
from pileup.record.tables import ROWS, Block, Rows, TableReader

CLAIMS, FINDINGS = "claims", "findings"
CLAIM_STRINGS = ("test", "target", "name", "id", "what")
FINDING_STRINGS = ("test", "target", "name", "id", "fate", "state", "found", "reason")
CLAIM = np.dtype([("time", "<i8"), ("case", "<u4"), *((name, "<u4") for name in CLAIM_STRINGS)])
TIMES = ("time", "claimed", "submitted", "started", "ended")
FINDING = np.dtype(
    [(name, "<i8") for name in TIMES] + [(name, "<u4") for name in ("audit", "case", "jobs", *FINDING_STRINGS, "pad")]
)
COLUMNS = {CLAIMS: (CLAIM, CLAIM_STRINGS), FINDINGS: (FINDING, FINDING_STRINGS)}
"""Table -> its columns, and which of them are strings."""


def paths(folder: Path, table: str) -> list[Path]:
    """Return the files of a table, in the order of the sessions that wrote them."""
    return sorted(folder.glob(f"{table}-*.table"), key=_number)


def next_path(folder: Path, table: str) -> Path:
    """Return a file that is not there yet, with the next number."""
    return folder / f"{table}-{1 + max(map(_number, paths(folder, table)), default=-1)}.table"


def _number(path: Path) -> int:
    found = path.stem.rpartition("-")[2]
    return int(found) if found.isdigit() else 0


def claims_to_rows(claims: Sequence[ClaimRow]) -> tuple[Rows, list[bytes]]:
    """Return the rows of claims, and the strings that they name by position."""
    rows, texts = np.zeros(len(claims), CLAIM), _Texts()
    for place, claim in enumerate(claims):
        rows[place] = (claim.time, claim.case, *_of_claim(texts, claim), texts.number(claim.what))
    return rows, texts.encoded()


def findings_to_rows(findings: Sequence[FindingRow]) -> tuple[Rows, list[bytes]]:
    """Return the rows of findings, and the strings that they name by position."""
    rows, texts = np.zeros(len(findings), FINDING), _Texts()
    for place, each in enumerate(findings):
        times = (each.time, each.claim.time, each.submitted, each.started, each.ended)
        said = map(texts.number, (each.fate, each.state, each.found, each.reason))
        rows[place] = (*times, each.audit, each.claim.case, each.jobs, *_of_claim(texts, each.claim), *said, 0)
    return rows, texts.encoded()


class _Texts:
    """Strings of one append, numbered from 1; 0 is the empty one."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def encoded(self) -> list[bytes]:
        return [text.encode(errors="replace") for text in self._numbers if text]


def _of_claim(texts: _Texts, claim: ClaimRow) -> tuple[int, ...]:
    return tuple(texts.number(text) for text in (claim.test, claim.target, claim.name, claim.id))


def read_claims(files: Iterable[Path], newest_first: bool = False) -> Iterator[ClaimRow]:
    """Yield claims; of each append at most is in memory."""
    for path in reversed(list(files)) if newest_first else files:
        for row, text in _rows(TableReader(path, CLAIM), newest_first):
            time, case, *numbers = row
            yield ClaimRow(time, case, *map(text, numbers))


def read_findings(files: Iterable[Path]) -> Iterator[FindingRow]:
    """Yield findings in the order in which they were written."""
    for path in files:
        for row, text in _rows(TableReader(path, FINDING)):
            time, claimed, submitted, started, ended, audit, case, jobs, *numbers, _pad = row
            test, target, name, id_, fate, state, found, reason = map(text, numbers)
            claim = ClaimRow(claimed, case, test, target, name, id_)
            yield FindingRow(audit, time, claim, fate, jobs, state, found, reason, submitted, started, ended)


def _rows(reader: TableReader, newest_first: bool = False) -> Iterator[tuple[Any, Any]]:
    """Yield each row as a tuple, with what gives the text of a string's number."""
    for strings, block in _appends(reader, newest_first):
        texts = {0: ""}
        if strings is not None:
            texts |= {number: text.decode(errors="replace") for number, text in reader.strings(strings)}

        def text(number: int, texts: dict[int, str] = texts) -> str:
            return texts.get(number, "")

        rows = reader.rows(block).tolist()
        yield from ((row, text) for row in (reversed(rows) if newest_first else rows))


def _appends(reader: TableReader, newest_first: bool) -> Iterator[tuple[Block | None, Block]]:
    """Yield the strings and the rows of each append."""
    begins = [begin for kind, begin, _ in reader.outline() if kind != ROWS] if newest_first else [0]
    for begin in reversed(begins):
        strings: Block | None = None
        for block in reader.blocks(begin):
            if block.kind != ROWS:
                strings = block
                continue
            yield strings, block
            strings = None
            if newest_first:
                break
