"""Rules for the reports of a suite: which exist, their options, their file names."""

from __future__ import annotations

from pileup.model.problem_codes import ProblemCode
from pileup.model.report_spec import ReportSpec
from pileup.plugin import Report
from pileup.suite import instances
from pileup.suite.bind import BoundPart, Draft, plain
from pileup.suite.formats.tree import Mapping, where
from pileup.suite.problems import shown
from pileup.suite.rules.plugin_options import Plugins, called
from pileup.suite.static_plugins import UnreadReport


def check_reports(draft: Draft, plugins: Plugins) -> None:
    """Add every mistake in the reports of a suite."""
    names: dict[str, int] = {}
    for report in draft.reports:
        cls = plugins.find(instances.class_of_report, report.spec.use, report.node, "use")
        if cls is None:
            continue
        _check_options(report, cls, plugins)
        if not issubclass(cls, UnreadReport) or report.spec.to is not None:
            _check_name(report, cls, plugins, names)


def _check_options(report: BoundPart[ReportSpec], cls: type[Report], plugins: Plugins) -> None:
    node = report.node
    own = {name: value for name, value in node.entries.items() if name not in ReportSpec.model_fields}
    options = Mapping(own, node.at, node.keys)
    if plugins.check_options(cls, options, node.at, ReportSpec.model_fields):
        plugins.attempt(cls, lambda: cls(**plain(options)), options)


def _check_name(report: BoundPart[ReportSpec], cls: type[Report], plugins: Plugins, names: dict[str, int]) -> None:
    """Check that the file name of a report is allowed and unique; `names` -> line of the first."""
    from pileup.record import report_names  # noqa: PLC0415  with numpy and DuckDB, for suites that name reports alone

    given = report.spec.to is not None
    name = report.spec.to if report.spec.to is not None else cls.file_name
    at = where(report.node, ("to",) if given else ("use",))
    if not name and not given:
        plugins.problems.add(at, f"{shown(called(cls))} has no file name", "`to: NAME`", code=ProblemCode.REPORT)
    elif problem := report_names.wrong(name):
        plugins.problems.add(at, f"{shown(name)} {problem}", report_names.EXPECTED, code=ProblemCode.REPORT)
    elif name in names:
        told = f"the first is in line {names[name]}" if names[name] != at.line else ""
        plugins.problems.add(
            at,
            f"a second report is written to {shown(name)}",
            "`to: NAME` with another name",
            told,
            code=ProblemCode.REPORT,
        )
    else:
        names[name] = at.line
