"""From records to summaries and verdicts: pure functions of the run folder.

May import `record`, `model`, `_core`.
"""

from pileup.model.figure_words import amount, unanswered, words
from pileup.model.results_json import plain, to_json
from pileup.stats.compare.runs import compare_runs
from pileup.stats.errors import commonest_error, errors
from pileup.stats.frames.distribution import quantiles_of
from pileup.stats.intervals.precision import Repeats
from pileup.stats.loads.gauge import Count, Gauge
from pileup.stats.loads.knee import Evidence, Knee
from pileup.stats.loads.rest import RestCheck
from pileup.stats.loads.trial import Condition, Trial, Trials, TrialWindow
from pileup.stats.run import exit_code, results, worked_out
from pileup.stats.verdicts.case_failure import judge_case
from pileup.stats.verdicts.excuse import of_case as excused

__all__ = [
    "Condition",
    "Count",
    "Evidence",
    "Gauge",
    "Knee",
    "Repeats",
    "RestCheck",
    "Trial",
    "TrialWindow",
    "Trials",
    "amount",
    "commonest_error",
    "compare_runs",
    "errors",
    "excused",
    "exit_code",
    "judge_case",
    "plain",
    "quantiles_of",
    "results",
    "to_json",
    "unanswered",
    "words",
    "worked_out",
]
