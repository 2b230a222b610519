"""The report for people: one offline HTML file, verdicts first, charts on one time axis, light and dark."""

from __future__ import annotations

from collections.abc import Iterator

from pileup.model.contrast import RunComparison
from pileup.model.results import RunResults
from pileup.plugin import Report


class HtmlReport(Report):
    """The report for people: one HTML file that needs no network.

    Verdicts come first, then the line that says what the limit was, the cases with their counts, rates and quantiles,
    charts of the load, of response and service times and of every monitor on one time axis, the errors counted, the
    output of each case, the suite and the environment. It opens in any browser, light or dark, and prints.
    """

    name = "html"
    file_name = "report.html"
    by_default = True
    for_people = True

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the page, UTF-8."""
        from pileup.builtin.reports.html.page import render  # noqa: PLC0415  # altair alone takes a second

        return render(results, outputs).encode("utf-8", "replace")

    def charts(self, results: RunResults, form: str) -> Iterator[tuple[str, bytes]]:
        """Yield each chart of the page as a picture."""
        from pileup.builtin.reports.html.charts.pictures import pictures  # noqa: PLC0415  as above

        return pictures(results, form)

    def compared(self, comparison: RunComparison) -> bytes:
        """Return the page of runs compared with a baseline."""
        from pileup.builtin.reports.html.compared import render  # noqa: PLC0415  # as above

        return render(comparison).encode("utf-8", "replace")
