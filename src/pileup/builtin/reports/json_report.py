"""The report for programs: the finished results as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pileup.plugin import Report

if TYPE_CHECKING:
    from pileup.plugin.results import RunResults


class JsonReport(Report):
    """The report for programs: the finished results as one JSON object.

    Times in nanoseconds since the epoch, durations in nanoseconds, rates per second, sizes in bytes; the fields have
    the names of `pileup.model.results`. A number that is not finite is null.
    """

    name = "json"
    file_name = "results.json"
    by_default = True

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the JSON, UTF-8. `outputs` stay files of the run folder, named by path."""
        from pileup.plugin.results import to_json  # noqa: PLC0415  `pileup list` imports this module

        parts = [f"{_text(name)}: {_members(value)}" for name, value in to_json(results).items()]
        return ("{\n" + ",\n".join(parts) + "\n}\n").encode("utf-8", "replace")


def _members(value: Any) -> str:
    """Return JSON with a line for each member of a list: short for programs, and people find a case by its line."""
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(map(_text, value)) + "\n]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
