"""What the engine says of a load, against the formulas that were in Python before it was asked."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup.fleet.order import Order
from pileup.model.loads.load import Load
from pileup.model.loads.stages import Stage
from pileup.model.record import Phase

S = 10**9
TIMES = st.integers(0, 5000).map(lambda ms: ms * 10**6)
SPANS = st.integers(1, 5000).map(lambda ms: ms * 10**6)
RATES = st.integers(1, 50_000).map(lambda hundredths: hundredths / 100)
CLIENTS = st.integers(1, 50)
NUMBERS = st.integers(1, 2000)
PAUSES = st.one_of(st.none(), st.integers(0, 10 * S).map(lambda time: {"fixed": time}))
ARRIVALS = st.sampled_from(["constant", "poisson"])
CLOSED_STAGES = st.lists(
    st.fixed_dictionaries({"clients": st.integers(0, 40), "ramp": TIMES, "warm_up": TIMES, "for": SPANS}), min_size=1
)
OPEN_STAGES = st.lists(
    st.fixed_dictionaries({"rate": st.just(0.0) | RATES, "ramp": TIMES, "warm_up": TIMES, "for": SPANS}), min_size=1
)
BETWEEN = st.tuples(st.integers(1, 20), st.integers(21, 40)).map(list)
HELD = {"metric": "queue.waiting", "at": "5000"}
SOUGHT = {"while": "p99(read) < 50 ms"}
WORDS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"times": NUMBERS}, optional={"think": PAUSES, "clients": CLIENTS}),
    st.fixed_dictionaries(
        {"clients": CLIENTS, "for": SPANS},
        optional={"ramp": TIMES, "warm_up": TIMES, "think": PAUSES, "times": NUMBERS},
    ),
    st.fixed_dictionaries(
        {"rate": RATES, "arrivals": ARRIVALS, "for": SPANS},
        optional={"ramp": TIMES, "warm_up": TIMES, "times": NUMBERS, "clients": CLIENTS},
    ),
    st.fixed_dictionaries({"rate": RATES, "times": NUMBERS, "arrivals": ARRIVALS}, optional={"ramp": TIMES}),
    st.fixed_dictionaries({"every": SPANS, "for": SPANS}, optional={"times": NUMBERS, "warm_up": TIMES}),
    st.fixed_dictionaries({"stages": CLOSED_STAGES}),
    st.fixed_dictionaries({"stages": OPEN_STAGES, "arrivals": ARRIVALS}, optional={"clients": CLIENTS}),
    st.builds(
        lambda by, between, settle, time: {
            "hold": {**HELD, "by": by, "between": between, "settle": settle},
            "for": time,
        },
        st.sampled_from(["rate", "clients"]),
        BETWEEN,
        TIMES,
        SPANS,
    ),
    st.builds(
        lambda by, between, settle, number, time: {
            "find": {**SOUGHT, "raise": by, "between": between, "settle": settle, "at_most": number},
            "for": time,
        },
        st.sampled_from(["rate", "clients"]),
        BETWEEN,
        TIMES,
        st.integers(2, 30),
        SPANS,
    ),
)
LOADS = WORDS.map(Load.model_validate)
SIGMAS = 6


def pace(load: Load) -> float | None:
    return load.rate if load.every is None else 1e9 / load.every


def level(stage: Stage) -> float:
    return float(stage.clients if stage.clients is not None else stage.rate or 0)


def lasting(load: Load) -> int | None:
    if load.stages:
        return sum(stage.ramp + stage.warm_up + stage.for_ for stage in load.stages)
    if load.for_ is None:
        return None
    if load.find is not None:
        return load.find.at_most * (load.find.settle + load.find.trial) + 4 * (load.find.settle + load.for_)
    return load.ramp + (load.hold.settle if load.hold else load.warm_up) + load.for_


def shortest(load: Load) -> int | None:
    if load.find is not None:
        return load.find.settle + (load.for_ or 0)
    return lasting(load) if load.times is None else None


def asked(load: Load) -> float | None:
    if not load.stages or load.stages[0].rate is None:
        return pace(load)
    pressed = [stage for stage in load.stages if level(stage)]
    time = sum(stage.for_ for stage in pressed)
    return sum(level(stage) * stage.for_ for stage in pressed) / time if time else 0.0


def spans(load: Load) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    time = 0
    for stage in load.stages or ():
        begin, time = time + stage.ramp + stage.warm_up, time + stage.ramp + stage.warm_up + stage.for_
        if level(stage) and found and found[-1][1] == begin:
            found[-1] = (found[-1][0], time)
        elif level(stage):
            found.append((begin, time))
    return tuple((begin - found[0][0], end - found[0][0]) for begin, end in found)


def due(load: Load) -> float | None:
    """The mean number of what is due by the end."""
    rate = pace(load)
    if rate is not None and load.for_ is not None:
        return rate * (load.ramp / 2 + load.warm_up + load.for_) / 1e9
    if not load.stages or load.stages[0].rate is None:
        return None
    mean, before = 0.0, 0.0
    for stage in load.stages:
        mean += ((before + level(stage)) / 2 * stage.ramp + level(stage) * (stage.warm_up + stage.for_)) / 1e9
        before = level(stage)
    return mean


def iterations(load: Load) -> int | None:
    mean = due(load)
    poisson = load.arrivals == "poisson"
    bounds = [] if mean is None else [math.ceil(mean + SIGMAS * math.sqrt(mean)) if poisson else math.ceil(mean)]
    bounds += [] if load.times is None else [load.times]
    bounds += [1] if load.kind == "once" else []
    return min(bounds, default=None)


def longest(load: Load, patience: int) -> int:
    trials = 0 if load.find is None else load.find.at_most + 4 - 1
    time = lasting(load)
    by_time = [] if time is None else [time + (1 + trials) * patience]
    return min([*by_time, *by_number(load, patience)], default=patience)


def by_number(load: Load, patience: int) -> list[int]:
    number, rate = load.times or 1, pace(load)
    if load.times is None and load.sustained:
        return []
    if rate is not None:
        spread = number + SIGMAS * math.sqrt(number) if load.arrivals == "poisson" else number
        return [load.ramp + load.warm_up + math.ceil(spread / rate * 1e9) + patience]
    each = patience + (load.think.longest if load.think else 0)
    return [load.ramp + load.warm_up + -(-number // (load.clients or 1)) * each]


def most(load: Load) -> int | None:
    if load.hold and load.hold.by == "clients":
        return int(load.hold.between[1])
    if load.find and load.find.raise_ == "clients":
        return int(load.find.between[1])
    if load.stages and load.stages[0].clients is not None:
        return max(stage.clients or 0 for stage in load.stages)
    return load.clients or (None if load.open else 1)


def phase(load: Load, elapsed: int) -> Phase:
    for part in load.stages or (load,):
        for length, found in ((part.ramp, Phase.RAMP), (settle(part), Phase.WARM_UP)):
            if elapsed < length:
                return found
            elapsed -= length
        if part.for_ is None or elapsed < part.for_:
            return Phase.MEASURE
        elapsed -= part.for_
    return Phase.MEASURE


def settle(part: Load | Stage) -> int:
    return part.before if isinstance(part, Load) else part.warm_up


def share(load: Load, shard: int, shards: int) -> int | None:
    """As it was, but for open loads with fewer clients than places: the engine leaves places out there, too."""
    times = 1 if load.kind == "once" else load.times
    if times is None:
        return None
    clients = most(load)
    sharing = shards if clients is None else min(shards, max(clients, 1))
    return len(range(shard, times, sharing)) if shard < sharing else 0


@given(LOADS)
def test_times_and_spans(load: Load) -> None:
    assert (load.lasting, load.shape.shortest, load.spans) == (lasting(load), shortest(load), spans(load))


@given(LOADS)
def test_the_rate_asked_for(load: Load) -> None:
    expected = asked(load)
    found = load.asked
    if expected is None or not load.stages or len(load.stages) > 1:
        assert found == expected
    else:
        assert found == pytest.approx(expected, rel=1e-12)


@given(LOADS)
def test_the_largest_number_of_iterations(load: Load) -> None:
    found, expected, mean = load.iterations, iterations(load), due(load)
    if expected != found:  # a mean that is a whole number but for the rounding of a float
        assert found is not None and expected is not None and mean is not None
        assert abs(found - expected) == 1 and load.arrivals == "constant"
        assert mean == pytest.approx(round(mean), rel=1e-12)


@given(WORDS.filter(lambda words: "rate" in words or "every" in words or "stages" in words))
def test_constant_arrivals_are_exactly_as_many_as_are_due(words: dict[str, Any]) -> None:
    load = Load.model_validate(words)
    if load.open and load.arrivals == "constant" and asked(load):
        order = Order(1, "case", load, S, seed=1)
        assert len(order.at_place().schedule(3 * 10**6)) == load.iterations


@given(LOADS, st.integers(0, 10**12))
def test_the_longest_time(load: Load, patience: int) -> None:
    assert load.longest(patience) == longest(load, patience)


@given(LOADS, st.integers(0, 40_000))
def test_the_phase_of_a_moment(load: Load, elapsed: int) -> None:
    order = Order(1, "case", load, S, seed=1)
    assert order.phase_at(elapsed * 10**6) is phase(load, elapsed * 10**6)
    assert order.phase_at(-1) is order.phase_at(0)


@given(LOADS, st.integers(1, 60))
def test_the_shares_of_places(load: Load, shards: int) -> None:
    order = Order(1, "case", load, S, seed=1)
    shares = [order.share(shard, shards) for shard in range(shards)]
    assert shares == [share(load, shard, shards) for shard in range(shards)]
    assert load.number is None or sum(filter(None, shares)) == load.number
    clients = most(load)
    sharing = shards if clients is None else min(shards, max(clients, 1))
    assert [order.part(shard, shards) for shard in range(shards)] == [
        (shard, sharing) if shard < sharing else None for shard in range(shards)
    ]


@given(LOADS)
def test_the_most_clients(load: Load) -> None:
    assert load.most == most(load)
