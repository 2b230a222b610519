"""What tests that follow stage requests have in common: numbers of files, and the names of those that did not come."""

from __future__ import annotations

import csv
import fcntl
import io
import os
from collections import Counter
from collections.abc import Sequence

from pileup.builtin.tape.requests import CANCELLED, DELIVERED, WORDS, Fate, Request
from pileup.plugin import Test

NAMED = "not-delivered.csv"
"""Artefact of the case: a line for each file that did not come."""
LARGEST = 32 << 20
"""Bytes of it; what comes then is in the record alone."""


class Watch:
    """Numbers and names of one client."""

    def __init__(self, test: Test) -> None:
        self._test = test
        self.counts: Counter[str] = Counter()
        self.gap = 0
        """Longest time between two polls of a request, ns."""
        self.first = ""
        """The first file that did not come, and why."""

    def take(self, request: Request, fates: Sequence[Fate]) -> None:
        """Count what has become of files of a request, and name those that did not come."""
        self.gap = max(self.gap, request.gap)
        self.counts.update(fate.word for fate in fates)
        bad = [fate for fate in fates if fate.word != DELIVERED]
        if bad:
            worst = min(bad, key=lambda fate: fate.word == CANCELLED)  # which may have been asked for
            self.first = self.first or f"{worst.path} is {worst.word}: {worst.reason}"
            self._name(request.id, bad)

    def report(self) -> None:
        """Record the numbers of this iteration as samples, and begin again."""
        for word in WORDS:
            self._test.report(f"files_{word}", self.counts[word], "files")
        self._test.report("files_over", self.counts.total(), "files")
        self._test.report("poll_gap", self.gap / 1e9, "s")
        self.counts.clear()
        self.gap, self.first = 0, ""

    def _name(self, request: str, fates: Sequence[Fate]) -> None:
        path = self._test.context.artefacts / NAMED
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows((request, *fate) for fate in fates)
        place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)  # other clients write to it, too
        with os.fdopen(place, "ab", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # of two that find it empty, one writes the head
            size = os.fstat(place).st_size
            if size < LARGEST:
                head = "" if size else "request,path,fate,reason\n"
                file.write((head + text.getvalue()).encode())
