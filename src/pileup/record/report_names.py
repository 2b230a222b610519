"""Which names a report may have in a run folder: plain ones that are not those of the record."""

from __future__ import annotations

import re

from pileup.record import files, sums

SUBFOLDERS = ("operations", "frames", "samples", "events", "audit", "output", "served")
RECORD = frozenset({"run.json", "journal.jsonl", "notes.jsonl", sums.NAME, files.SERVERS, *SUBFOLDERS})
"""What the record itself has in a run folder."""
PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
EXPECTED = "letters, digits and . _ -, a letter or digit first, at most 100, e.g. report.html"


def wrong(name: str) -> str:
    """Return what is wrong with the name of a report, empty when nothing is."""
    if not PLAIN.fullmatch(name) or name.endswith(".part"):
        return "is not a name for a report in the run folder"
    return "is a file or folder of the record" if name in RECORD else ""
