"""A report takes finished, typed results and returns bytes; it never reads live state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pileup.model.errors import PileupError, PluginError
from pileup.plugin.options import assign
from pileup.plugin.verdict import mistake

if TYPE_CHECKING:
    from pileup.model.contrast import RunComparison
    from pileup.model.results import RunResults


class Report:
    """Base of all reports. Options are annotated fields; the docstring is the report's page."""

    _framework: ClassVar[bool] = True
    name: ClassVar[str] = ""
    """Name under which it is registered: `reports: [{use: NAME}]`, `pileup report RUN --to NAME`."""
    file_name: ClassVar[str] = ""
    """Name of the file in the run folder, unless the suite sets another."""
    by_default: ClassVar[bool] = False
    """Whether it is written by every run whose suite has no `reports`."""
    for_people: ClassVar[bool] = False
    """Whether it is for people: then `pileup run` prints its path, also if the suite does not name it."""

    folder: Path = Path()
    """Folder for relative paths in its options: that of the suite, else the working folder."""

    def __init__(self, **options: Any) -> None:
        assign(self, options)
        self.check()

    def check(self) -> None:
        """Refuse options that contradict each other: raise ValueError."""

    @abstractmethod
    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the report. `outputs` maps a path inside the run folder (stdout, stderr of a case) to its text."""

    def charts(self, results: RunResults, form: str) -> Iterator[tuple[str, bytes]]:
        """Yield file name and content of each chart that it can draw, `form` "svg", "png" or "json" (Vega-Lite).

        None by default.
        """
        del results, form
        yield from ()

    def compared(self, comparison: RunComparison) -> bytes:
        """Return a page about runs compared with a baseline; empty for a report that has none."""
        del comparison
        return b""


def rendered(report: Report, results: RunResults, outputs: dict[str, str]) -> bytes:
    """Return the report of a run. Raises PluginError for a mistake in the plug-in, with the user's line."""
    try:
        data: object = report.render(results, outputs)
    except PileupError:
        raise
    except Exception as problem:
        raise PluginError(mistake(problem)) from problem
    if not isinstance(data, (bytes, bytearray)):
        raise PluginError(f"render() gave a {type(data).__name__}", "bytes")
    return bytes(data)
