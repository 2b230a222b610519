"""What `pileup run` says last: the verdict, what is not met, where the report is, what to type next."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.cli.messages import echo
from pileup.model.exits import ExitCode
from pileup.model.verdict import Verdict

if TYPE_CHECKING:
    from pileup.model.results import CriterionResult, RunResults

RESUMED = (ExitCode.STOPPED_BY_USER, ExitCode.STOPPED_BY_LIMIT, ExitCode.TARGET_UNREACHABLE)
"""Endings after which `pileup resume` has something to do."""


def print_ending(results: RunResults, reports: Iterable[Path]) -> None:
    """Print the verdict, each criterion that is not met, the reports, the next command, and the run folder last."""
    from rich.text import Text

    from pileup.cli.console import SafeConsole
    from pileup.cli.live.marks import OF_VERDICT, in_ascii, shows_signs, styled
    from pileup.model.headline import headline

    console = SafeConsole()
    lines = [Text(str(headline(results)), "bold")]
    for each in results.criteria:
        if not each.verdict.met and each.verdict is not Verdict.NOT_COVERED:
            sign, style = OF_VERDICT[each.verdict]
            lines.append(styled(f"{sign} {each.id}: ", style) + Text(_unmet(each)))
    console.print()
    for line in lines:
        console.print(line if shows_signs(console) else in_ascii(line), soft_wrap=True, highlight=False)
    for path in reports:
        echo(f"report: {path}")
    echo(f"next: {_next(results)}")
    echo(results.folder)


def _unmet(each: CriterionResult) -> str:
    from pileup.model.figure_words import words

    wanted = f", wanted {each.threshold}" if each.threshold else ""
    reason = f" ({each.reason})" if each.verdict is Verdict.UNKNOWN and each.reason else ""
    return f"{each.says}: {words(each.figure)}{wanted}; {each.verdict}{reason}"


def _next(results: RunResults) -> str:
    if results.exit_code in RESUMED:
        return f"pileup resume {results.folder}"
    return f"pileup compare {results.folder} LATER_RUN"
