"""Units of the columns of tables. A name has one unit in all tables, but for those of `ELSEWHERE`."""

from __future__ import annotations

MOMENT, TIME = "ns since the epoch", "ns"
RATE, SPEED = "/s", "bytes/s"
SHARE = "share of 1"
BY_DIMENSION, BY_UNIT = "see `dimension`", "see `unit`"

UNITS = {
    **dict.fromkeys(("time", "intended", "start", "first_byte", "end", "begin"), MOMENT),
    **dict.fromkeys(("started", "ended", "first", "claimed", "submitted"), MOMENT),
    **dict.fromkeys(("round_trip", "p25", "p75", "expected", "c"), TIME),
    **dict.fromkeys(("nanoseconds", "cpu", "mean", "deviation", "p50", "p90", "p99", "p99_9"), TIME),
    **dict.fromkeys(("late", "latest", "low", "high", "recovery", "jobs_again", "total", "longest", "waited"), TIME),
    **{f"{kind}_{name}": TIME for kind in ("response", "service") for name in ("mean", "smallest", "largest")},
    **dict.fromkeys(("response_deviation", "service_deviation"), TIME),
    **dict.fromkeys(("took", "served", "resolution", "served_p50", "served_p99", "rest_p50", "rest_p99"), TIME),
    "seconds": "s",
    **dict.fromkeys(("bytes",), "bytes"),
    "rate": RATE,
    **dict.fromkeys(("throughput", "bandwidth"), SPEED),
    **dict.fromkeys(("share", "apart", "lost_share", "relative", "p", "p_adjusted"), SHARE),
}
"""Column -> unit; a column that is not here counts something, or is a text."""
ELSEWHERE = {
    **{("timeline", name): RATE for name in ("started", "passed", "not_passed", "missed")},
    **dict.fromkeys((("frames", "started"), ("detached", "ended")), ""),
    **dict.fromkeys((("quantiles", "value"), ("quantiles", "above"), ("spectrum", "value")), TIME),
    **{(table, "value"): BY_DIMENSION for table in ("criteria", "repeats")},
    **{(table, "mean"): BY_DIMENSION for table in ("points", "effects")},
    **{(table, "difference"): BY_DIMENSION for table in ("differences", "effects")},
    ("samples", "value"): BY_UNIT,
    ("jobs", "failed"): SHARE,
    **{("equivalences", name): "times the first" for name in ("times", "calls", "bytes")},
    **{(table, "k"): "round trips" for table in ("matrix_targets", "round_trips")},
    ("round_trips", "requests"): "requests",
    **{("round_trips", name): "times what was expected" for name in ("explained", "ratio")},
}
"""(table, column) -> unit, where the name has another one elsewhere."""
ENDS = ("_low", "_high")


def unit_of(table: str, column: str) -> str:
    """Return the unit of a column of a table, empty for text and for what counts; ends of an interval have its own."""
    name = (
        column if column in UNITS else next((column.removesuffix(end) for end in ENDS if column.endswith(end)), column)
    )
    return ELSEWHERE.get((table, name), UNITS.get(name, ""))
