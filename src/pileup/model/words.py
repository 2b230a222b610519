"""A load in words, as plans and reports show it."""

from __future__ import annotations

from pathlib import PurePath

from pileup.model.find import Find
from pileup.model.hold import Hold
from pileup.model.law import Law
from pileup.model.replay import Replay
from pileup.model.suite import Load, Stage
from pileup.model.units import format_count, format_rate, format_time


def load_words(load: Load) -> str:
    """Return e.g. `closed, 100 clients for 10 s after 5 s ramp`."""
    names = ((load.ramp, "ramp"), (load.before, "settling" if load.steered_by else "warm-up"))
    before = [f"{format_time(time)} {name}" for time, name in names if time]
    press = _press(load) + (" after " + " and ".join(before) if before else "")
    return ", ".join([press, *_pauses(load)])


def _press(load: Load) -> str:
    if load.find is not None:
        return f"{load.kind}, {_find(load.find)}{_end(load)}"
    return _kind(load) if load.hold is None else f"{load.kind}, {_hold(load.hold)}{_end(load)}"


def _kind(load: Load) -> str:
    match load.kind:
        case "once":
            return "once"
        case "times":
            return _number(load.times or 1, "time")
        case _ if load.stages:
            return f"{load.kind}, {len(load.stages)} stages: {', '.join(_stage(stage) for stage in load.stages)}"
        case "closed":
            return f"closed, {_number(load.clients or 1, 'client')}{_end(load)}"
        case _:
            return f"open, {_pace(load)}{_end(load)}{_most(load)}"


def _pace(load: Load) -> str:
    if load.replay is not None:
        return _replay(load.replay)
    if load.every is not None:
        return f"every {format_time(load.every)}"
    return format_rate(load.rate or 0) + (" poisson" if load.arrivals == "poisson" else "")


def _most(load: Load) -> str:
    return f" with at most {load.clients} in flight" if load.clients else ""


def _replay(replay: Replay) -> str:
    whose = f"{replay.test} in " if replay.test else ""
    speed = "" if replay.speed == 1 else f" at {replay.speed:g} x its speed"
    return f"replay of {whose}{PurePath(replay.run).name or replay.run}{speed}"


def _find(find: Find) -> str:
    low, high = find.between
    return f"the highest of {low:g} to {high:g} {find.unit} with {find.words}, then there"


def _hold(hold: Hold) -> str:
    low, high = hold.between
    levels = f"{low:g} to {high:g} {'/s' if hold.by == 'rate' else 'clients'}"
    return f"{hold.metric} held at {hold.at} (band {hold.band}) by {levels}"


def _stage(stage: Stage) -> str:
    level = format_rate(stage.rate) if stage.rate is not None else _number(stage.clients or 0, "client")
    return f"{level} for {format_time(stage.for_)}"


def _end(load: Load) -> str:
    times = "" if load.times is None else " " + _number(load.times, "time")
    return times + ("" if load.for_ is None else f" for {format_time(load.for_)}")


def _number(count: int, name: str) -> str:
    return f"{format_count(count)} {name}{'' if count == 1 else 's'}"


def _pauses(load: Load) -> list[str]:
    pauses = (("think time", load.think), ("delay", load.delay))
    return [f"{name} {law_words(law)}" for name, law in pauses if law is not None]


def law_words(law: Law) -> str:
    """Return e.g. `uniform 1 s to 5 s`."""
    match law.kind, getattr(law, law.kind):
        case "fixed", time:
            return format_time(time)
        case "uniform", (low, high):
            return f"uniform {format_time(low)} to {format_time(high)}"
        case "exponential", mean:
            return f"exponential around {format_time(mean)}"
        case "normal", (mean, deviation):
            return f"normal {format_time(mean)} ± {format_time(deviation)}"
        case "lognormal", (median, sigma):
            return f"log-normal, median {format_time(median)}, sigma {sigma:g}"
        case _, (fast, slow, share):
            return f"{format_time(fast)}, or {format_time(slow)} in {share:.3g} of the draws"
    raise AssertionError(law.kind)
