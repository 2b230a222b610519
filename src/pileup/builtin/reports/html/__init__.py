"""The report for people: one offline HTML file, verdicts first, charts on one time axis, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pileup.plugin import PluginError, Report, option, registry

if TYPE_CHECKING:
    from pileup.builtin.reports.html.charts.assemble import Charts
    from pileup.plugin.results import RunComparison, RunResults


ALL = "all"
"""Stands for every installed chart in a list of names."""


class HtmlReport(Report):
    """The report for people: one HTML file that needs no network.

    Verdicts come first, then the bottleneck, the cases with their counts, rates and percentiles,
    charts of the load, of response and service times and of every monitor on one time axis, the errors counted, the
    output of each case, the suite and the environment. It opens in any browser, light or dark, and prints.
    """

    name = "html"
    file_name = "report.html"
    by_default = True
    for_people = True

    charts_: list[str] = option(
        ["all"],
        help="what is drawn, by the names of `pileup list charts`, or ./file.py:Class; all: every installed chart",
    )

    def check(self) -> None:
        """Refuse names that no installed chart has; files are looked for when the suite's folder is known."""
        known = [ALL, *registry.names("charts")]
        for name in self.charts_:
            if ".py:" not in name and name not in known:
                raise ValueError(f"there is no chart {name!r}; expected one of {', '.join(known)}, or ./file.py:Class")

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the page, UTF-8."""
        from pileup.builtin.reports.html.page import render  # noqa: PLC0415  # altair alone takes a second

        return render(results, outputs, self._drawn(results)).encode("utf-8", "replace")

    def charts(self, results: RunResults, form: str) -> Iterator[tuple[str, bytes]]:
        """Yield each chart of the page as a picture. Raises PluginError when one that is asked for fails."""
        from pileup.builtin.reports.html.charts.pictures import pictures  # noqa: PLC0415  as above

        drawn = self._drawn(results)
        if drawn.problems and ALL not in self.charts_:
            raise PluginError(" ".join(drawn.problems), "charts that can be drawn")
        return pictures(drawn, form)

    def _drawn(self, results: RunResults) -> Charts:
        from pileup.builtin.reports.html.charts.assemble import charts  # noqa: PLC0415  as above

        return charts(results, self.charts_, self.folder)

    def compared(self, comparison: RunComparison) -> bytes:
        """Return the page of runs compared with a baseline."""
        from pileup.builtin.reports.html.compared import render  # noqa: PLC0415  # as above

        return render(comparison).encode("utf-8", "replace")
