"""The input of reports and charts: the judged results of a run, and its figures in words.

Times in nanoseconds since the epoch, durations in nanoseconds, rates per second, sizes in bytes.
"""

from pileup.model.bottleneck import BottleneckRow, LimitedBy
from pileup.model.bottleneck_table import bottlenecks_by_point
from pileup.model.breakdown import Breakdown, LabelFigure, LabelLine
from pileup.model.check import Check, Selected
from pileup.model.contrast import (
    ALIKE,
    BETTER,
    NO_ANSWER,
    TOO_FEW,
    WORSE,
    ComparedSide,
    Contrast,
    Curve,
    Overlay,
    RunComparison,
)
from pileup.model.contrast_words import change_words, plain_words, verdict_words
from pileup.model.contrast_words import sentence as comparison_sentence
from pileup.model.event import Event
from pileup.model.exits import ExitCode
from pileup.model.factors import Factor, factors_of
from pileup.model.figure_words import amount, apart_words, unanswered, words
from pileup.model.figures import Counts, Distribution, Figure, Interval, Note, SchedulingDelay
from pileup.model.headline import Headline, headline
from pileup.model.joined import Joined, OneSided, ServerClock
from pileup.model.manifest import CaseEntry, Host, Manifest, MonitorEntry, TargetEntry
from pileup.model.marks import Mark, Tone, mark
from pileup.model.matrix import Matrix, MatrixCell, MatrixModel, ServerLine
from pileup.model.record import ERROR, FAILED, NOT_PASSED, OF_DUE, OUTCOMES, PASSED, CaseOutcome, Phase
from pileup.model.response_map import ResponseMap
from pileup.model.results import (
    SIDE_BY_SIDE,
    CaseResult,
    Comparison,
    CriterionResult,
    Detached,
    Difference,
    Effect,
    Equivalence,
    ErrorGroup,
    FaultResult,
    FoundLevel,
    HeldLevel,
    OperationResult,
    Point,
    PointFigure,
    PointVerdict,
    RoundTrips,
    RunResults,
    Series,
    Served,
    SoughtCondition,
    SteadyState,
    Timeline,
    TimeRatio,
)
from pileup.model.results_json import to_json
from pileup.model.self_metrics import MONITOR as OWN_MONITOR
from pileup.model.submissions import AuditResult, BadSubmission, JobReason, JobsResult, states_of
from pileup.model.verdict import RunVerdict, Verdict

__all__ = [
    "ALIKE",
    "BETTER",
    "ERROR",
    "FAILED",
    "NOT_PASSED",
    "NO_ANSWER",
    "OF_DUE",
    "OUTCOMES",
    "OWN_MONITOR",
    "PASSED",
    "SIDE_BY_SIDE",
    "TOO_FEW",
    "WORSE",
    "AuditResult",
    "BadSubmission",
    "BottleneckRow",
    "Breakdown",
    "CaseEntry",
    "CaseOutcome",
    "CaseResult",
    "Check",
    "ComparedSide",
    "Comparison",
    "Contrast",
    "Counts",
    "CriterionResult",
    "Curve",
    "Detached",
    "Difference",
    "Distribution",
    "Effect",
    "Equivalence",
    "ErrorGroup",
    "Event",
    "ExitCode",
    "Factor",
    "FaultResult",
    "Figure",
    "FoundLevel",
    "Headline",
    "HeldLevel",
    "Host",
    "Interval",
    "JobReason",
    "JobsResult",
    "Joined",
    "LabelFigure",
    "LabelLine",
    "LimitedBy",
    "Manifest",
    "Mark",
    "Matrix",
    "MatrixCell",
    "MatrixModel",
    "MonitorEntry",
    "Note",
    "OneSided",
    "OperationResult",
    "Overlay",
    "Phase",
    "Point",
    "PointFigure",
    "PointVerdict",
    "ResponseMap",
    "RoundTrips",
    "RunComparison",
    "RunResults",
    "RunVerdict",
    "SchedulingDelay",
    "Selected",
    "Series",
    "Served",
    "ServerClock",
    "ServerLine",
    "SoughtCondition",
    "SteadyState",
    "TargetEntry",
    "TimeRatio",
    "Timeline",
    "Tone",
    "Verdict",
    "amount",
    "apart_words",
    "bottlenecks_by_point",
    "change_words",
    "comparison_sentence",
    "factors_of",
    "headline",
    "mark",
    "plain_words",
    "states_of",
    "to_json",
    "unanswered",
    "verdict_words",
    "words",
]
