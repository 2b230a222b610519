"""A load in words, as plans and reports show it."""

from __future__ import annotations

from pileup.model.law import Law
from pileup.model.loads.load import Load
from pileup.model.units import counted, format_range, format_time


def load_words(load: Load, places: int | frozenset[str] | None = None) -> str:
    """Return e.g. `closed, 100 clients for 10 s after 5 s ramp`; `places` are those of the fleet that press it."""
    names = ((load.ramp, "ramp"), (load.before, "settling" if load.steered_by else "warm-up"))
    before = [f"{format_time(time)} {name}" for time, name in names if time]
    press = load.shape.words + (" after " + " and ".join(before) if before else "")
    pauses = (("think time", load.think), ("delay", load.delay))
    told = [f"{name} {law_words(law)}" for name, law in pauses if law is not None]
    told += [] if load.pacing == "normal" else [f"{load.pacing} pacing"]
    return ", ".join([press, *told, *([] if places is None else [_from(places)])])


def _from(places: int | frozenset[str]) -> str:
    if isinstance(places, int):
        return f"from {counted(places, 'place')}"
    return f"from place{'s' if len(places) > 1 else ''} {', '.join(sorted(places))}"


def law_words(law: Law) -> str:
    """Return e.g. `uniform 1-5 s`."""
    match law.kind, getattr(law, law.kind):
        case "fixed", time:
            return format_time(time)
        case "uniform", (low, high):
            return f"uniform {format_range(low, high, 'time')}"
        case "exponential", mean:
            return f"exponential around {format_time(mean)}"
        case "normal", (mean, deviation):
            return f"normal {format_time(mean)} ± {format_time(deviation)}"
        case "lognormal", (median, sigma):
            return f"log-normal, median {format_time(median)}, sigma {sigma:g}"
        case _, (fast, slow, share):
            return f"{format_time(fast)}, or {format_time(slow)} in {share:.3g} of the draws"
    raise AssertionError(law.kind)
