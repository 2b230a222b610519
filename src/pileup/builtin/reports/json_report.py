"""The report for programs: the finished results as JSON."""

from __future__ import annotations

import json

from pileup.model.results import RunResults
from pileup.plugin import Report
from pileup.stats import to_json


class JsonReport(Report):
    """The report for programs: the finished results as one JSON object.

    Times in nanoseconds since the epoch, durations in nanoseconds, rates per second, sizes in bytes; the fields bear
    the names of `pileup.model.results`. A number that is not finite is null.
    """

    name = "json"
    file_name = "results.json"

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the JSON, UTF-8. `outputs` stay files of the run folder, named by path."""
        text = json.dumps(to_json(results), ensure_ascii=False, allow_nan=False, indent=1)
        return text.encode("utf-8", "replace") + b"\n"
