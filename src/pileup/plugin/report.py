"""A report takes finished, typed results and returns bytes; it never reads live state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from pileup.model.contrast import RunComparison
from pileup.model.results import RunResults


class Report:
    """Base of all reports. The docstring is the report's page."""

    _framework: ClassVar[bool] = True
    name: ClassVar[str] = ""
    """Name under which it is registered: `pileup report RUN --to NAME`."""
    file_name: ClassVar[str] = ""
    """Name of the file in the run folder."""

    @abstractmethod
    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the report. `outputs` maps a path inside the run folder (stdout, stderr of a case) to its text."""

    def charts(self, results: RunResults, form: str) -> Iterator[tuple[str, bytes]]:
        """Yield file name and content of each chart that it can draw, `form` "svg" or "png"; none by default."""
        del results, form
        yield from ()

    def compared(self, comparison: RunComparison) -> bytes:
        """Return a page about runs compared with a baseline; empty for a report that has none."""
        del comparison
        return b""
