"""From records to summaries and verdicts: pure functions of the run folder.

May import `record`, `model`, `_core`. Here is what shows a run; comparisons, and what steers a load, are in their
modules.
"""

from pileup.model.figure_words import amount, unanswered, words
from pileup.model.results_json import plain, to_json
from pileup.stats.errors import commonest_error, errors
from pileup.stats.run import results, worked_out
from pileup.stats.verdicts.case_failure import judge_case
from pileup.stats.verdicts.excuse import of_case as excused

__all__ = [
    "amount",
    "commonest_error",
    "errors",
    "excused",
    "judge_case",
    "plain",
    "results",
    "to_json",
    "unanswered",
    "words",
    "worked_out",
]
