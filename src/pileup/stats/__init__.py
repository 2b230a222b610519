"""From records to summaries and verdicts: pure functions of the run folder.

May import `record`, `model`, `_core`.
"""

from pileup.stats.compare import compare_runs
from pileup.stats.distribution import quantiles_of
from pileup.stats.errors import errors, first_error
from pileup.stats.evaluate import amount, unanswered, words
from pileup.stats.excuse import of_case as excused
from pileup.stats.gauge import Count, Gauge
from pileup.stats.idle import Idle
from pileup.stats.judge import judge_case
from pileup.stats.knee import Evidence, Knee
from pileup.stats.plain import plain, to_json
from pileup.stats.precision import Repeats
from pileup.stats.run import exit_code, results
from pileup.stats.trial import Condition, Looked, Trial, Trials

__all__ = [
    "Condition",
    "Count",
    "Evidence",
    "Gauge",
    "Idle",
    "Knee",
    "Looked",
    "Repeats",
    "Trial",
    "Trials",
    "amount",
    "compare_runs",
    "errors",
    "excused",
    "exit_code",
    "first_error",
    "judge_case",
    "plain",
    "quantiles_of",
    "results",
    "to_json",
    "unanswered",
    "words",
]
