"""A report for Nagios and its kin."""

from pileup.plugin import Report, RunResults, option
from pileup.plugin.results import CriterionResult, RunVerdict

STATUS = {RunVerdict.PASSED: "OK", RunVerdict.FAILED: "CRITICAL"}
UNITS = {"time": ("s", 1e-9), "size": ("B", 1.0), "fraction": ("%", 100.0)}
"""Dimension of a figure -> unit of Nagios, and what a number in the base unit is multiplied with."""


class Nagios(Report):
    """What a check of Nagios prints: one line with the status, what is not met, and the figures of all criteria."""

    name = "nagios"
    file_name = "nagios.txt"

    service: str = option("PILEUP", pattern="^[A-Z0-9_-]+$", help="name of the service")

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        """Return the line."""
        bad = [f"{case.name} {case.outcome}" for case in results.cases if case.outcome != "passed"]
        bad += [f"{each.id} {each.verdict}" for each in results.criteria if not each.verdict.met]
        told = "; ".join(bad) or f"{len(results.cases)} tests passed, {len(results.criteria)} criteria met"
        figures = " ".join(figure for each in results.criteria if (figure := performance(each)))
        return f"{self.service} {STATUS.get(results.verdict, 'UNKNOWN')} - {told} | {figures}\n".encode()


def performance(criterion: CriterionResult) -> str:
    """Return 'label'=value with its unit; empty where there is no value."""
    unit, factor = UNITS.get(criterion.figure.dimension, ("", 1.0))
    value = criterion.figure.value
    return "" if value is None else f"'{criterion.id}'={value * factor:.6g}{unit}"
