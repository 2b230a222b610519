"""Quantities of simulated systems held at a set point: queues and lags, behind dead times and gains not known."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np
import pytest

from pileup.run.control.bank import Bank
from pileup.run.control.controller import Controller, LevelBounds
from pileup.run.control.hold import COUNTED
from tests.simulation.plants import Informed, Lag, Queue, Server, controller, held

SETTLE, SECONDS = 300, 600
FIRST_SEED = 200
"""The constants of the controller were chosen with seeds below this one: those here it has never seen."""


@dataclass(frozen=True)
class Held:
    """One queue, and the share of its seconds in the band."""

    what: str
    share: float


def _queue(seed: int) -> Held:
    """Hold a queue drawn by its seed.

    The band is what can be held at all: three standard deviations of the departures that happen while a level is on its
    way and cannot be answered (they are Poisson: their variance is their number), the jobs that come at once, and half
    of what the scheduler takes at once.
    """
    draw = random.Random(seed)
    slots, service = draw.choice([20, 50, 200]), draw.choice([2.0, 5.0, 10.0])
    dead, each, cycle = draw.randrange(13), draw.choice([1, 1, 5]), draw.choice([0, 0, 1, 2])
    drain = slots / (service + cycle / 2)
    band = 3 * math.sqrt(drain * (dead + 2 + cycle)) + each + drain * cycle / 2
    set_point = max(10 * band, 20 * drain)
    plant = Queue(slots, lambda random: float(random.exponential(service)), dead, cycle, each)
    values = held(plant, controller(set_point, band, 4 * drain / each), seed, SETTLE, SECONDS)
    share = float(np.mean(np.abs(np.array(values) - set_point) <= band))
    return Held(f"{slots} slots, {service} s, dead time {dead} s, {each} at once, cycle {cycle} s", share)


@pytest.mark.long
def test_a_queue_with_dead_time_is_held_in_its_band_over_fifty_seeds() -> None:
    found = [_queue(seed) for seed in range(FIRST_SEED, FIRST_SEED + 50)]
    poor = [each for each in found if each.share < 0.95]
    assert np.mean([each.share for each in found]) >= 0.98
    assert len(poor) <= 3, poor


@pytest.mark.parametrize("seed", range(5))
def test_a_queue_that_nothing_leaves_for_minutes_is_not_filled_meanwhile(seed: int) -> None:
    """Jobs of one length end together, as they began: 520 slots, 600 s, 2.6 started in a second, a look in 10 s."""
    plant = Queue(520, lambda random: 60 + float(random.uniform(0, 7.5)), 0, waiting=5500, starts=26.0)
    steering = Controller(5000.0, 250.0, LevelBounds(0.0, 41.67, 4.167), 8.33)
    values = np.array(held(plant, steering, seed, 30, 400))
    assert np.mean(np.abs(values - 5000) <= 250) >= 0.95


@pytest.mark.parametrize("dead", [0, 1, 2, 3])
@pytest.mark.parametrize("start", [3.0, 5.0])
@pytest.mark.parametrize("ramp", [2, 5, 10])
def test_a_ramp_that_is_seen_late_teaches_nothing_false(start: float, dead: int, ramp: int) -> None:
    """550 jobs of a load before it, seen while the hold is at its first level already; cream-slurm-ci in small."""
    plant = Queue(50, lambda random: float(random.uniform(5, 15)), dead, cycle=1.0, starts=26.0)
    random_ = np.random.default_rng(FIRST_SEED)
    for _ in range(ramp):
        plant.second(550 / ramp, random_)
    steering = Controller(500.0, 25.0, LevelBounds(0.0, 30.0, 3.0), start)
    values = np.array(held(plant, steering, FIRST_SEED, 20, 60))
    assert np.mean(np.abs(values - 500) <= 25) >= 0.9


def test_what_falls_below_its_band_is_led_back_from_a_level_of_nothing_too() -> None:
    steering = Controller(500.0, 25.0, LevelBounds(0.0, 30.0, 3.0), start=0.0)
    levels = [steering.step(value) for value in (510.0, *(470.0 - number for number in range(20)))]
    assert max(levels) > 0.6, "two hundredths of the highest level are the least that is tried"


@pytest.mark.parametrize("dead", [0, 1, 2, 3])
def test_what_falls_below_its_band_is_led_back_while_nothing_is_known_of_it(dead: int) -> None:
    """A full queue drains four times faster than the first level fills it."""
    shares = []
    for seed in range(FIRST_SEED, FIRST_SEED + 20):
        plant = Queue(50, lambda random: float(random.uniform(2, 6)), dead, cycle=1.0, waiting=550)
        steering = Controller(500.0, 25.0, LevelBounds(0.0, 30.0, 3.0), 3.0)
        values = np.array(held(plant, steering, seed, 45, 30))
        shares.append(np.mean(np.abs(values - 500) <= 25))
    assert np.mean(shares) >= 0.95


@pytest.mark.parametrize("dead", [0, 2, 5, 9])
@pytest.mark.parametrize(("gain", "lag"), [(0.2, 0.0), (1.0, 3.0), (30.0, 10.0)])
def test_a_quantity_that_follows_the_level_is_held_whatever_its_gain(gain: float, lag: float, dead: int) -> None:
    set_point = 10 * gain
    values = held(Lag(gain, lag, dead, 0.01 * set_point), controller(set_point, 0.05 * set_point, 40.0), 5, 200, 300)
    inside = np.abs(np.array(values) - set_point) <= 0.05 * set_point
    assert inside.mean() >= 0.95


SERVERS = {
    "1 worker, 100/s": (1, 0.01, 1.0, 200.0),
    "1 worker, 100/s, of 400": (1, 0.01, 1.0, 400.0),
    "4 workers, 100/s, hardly random": (4, 0.04, 0.5, 200.0),
    "4 workers, 80/s": (4, 0.05, 1.0, 200.0),
    "8 workers, 160/s": (8, 0.05, 1.0, 400.0),
    "16 workers, 80/s": (16, 0.2, 1.0, 200.0),
}
"""Workers, mean service (s), spread of its logarithm, and the highest level (/s)."""
TOO_FAST = (8, 0.01, 1.0, 2000.0)
"""In a second chance changes what is under way there by 37 (standard deviation): more than the band is wide."""


def _share_of_the_possible(server: tuple[int, float, float, float], settle: int) -> float:
    """Return the share in a band of 40 +-20 over 12 seeds, as a share of that of who knows the capacity."""
    workers, mean, sigma, high = server
    mine, best = [], []
    for seed in range(FIRST_SEED, FIRST_SEED + 12):
        steering = controller(40.0, 20.0, high, most_dead=COUNTED)
        informed = Informed(40.0, workers / mean, high, high / 10)
        mine += held(Server(workers, mean, sigma), steering, seed, settle, 120)
        best += held(Server(workers, mean, sigma), informed, seed, settle, 120)
    share, possible = (float(np.mean(np.abs(np.array(values) - 40) <= 20)) for values in (mine, best))
    return share / possible


@pytest.mark.long
@pytest.mark.parametrize(("settle", "least"), [(30, 0.8), (60, 0.9)])
@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_t10_what_a_server_has_under_way_is_held_nearly_as_well_as_is_possible(
    server: tuple[int, float, float, float], settle: int, least: float
) -> None:
    """docs/hold.md says how near it comes."""
    assert _share_of_the_possible(server, settle) >= least


@pytest.mark.long
def test_t10_where_chance_is_wider_than_the_band_it_is_held_less_well() -> None:
    assert _share_of_the_possible(TOO_FAST, 60) >= 0.8


def test_a_quantity_that_falls_with_the_level_is_held_when_that_is_said() -> None:
    steering = controller(-10.0, 0.5, 40.0, sign=-1)
    values = held(Lag(-1.0, 3.0, 2, 0.05), steering, 1, 200, 200)
    assert np.mean(np.abs(np.array(values) + 10) <= 0.5) >= 0.95


def test_a_set_point_out_of_reach_winds_nothing_up() -> None:
    """After ten minutes at its upper bound a level comes down as soon as it is wanted lower: there is no integral."""
    plant, steering = Lag(1.0, 2.0, 3, 0.0), controller(45.0, 2.0, 40.0)
    random_ = np.random.default_rng(1)
    for _ in range(600):
        steering.step(plant.second(steering.level, random_))
    assert steering.level == pytest.approx(40.0)
    levels = []
    for _ in range(60):
        steering.step(plant.second(steering.level, random_) + 20)  # now something else does a part
        levels.append(steering.level)
    assert min(levels[:5]) < 40
    assert levels[-1] == pytest.approx(25.0, rel=0.1)


def test_levels_stay_in_bounds_and_change_by_no_more_than_a_step_whatever_is_measured() -> None:
    draw = random.Random(3)
    steering = Controller(100.0, 5.0, LevelBounds(2.0, 50.0, 5.0), 10.0)
    before = steering.level
    for _ in range(2000):
        level = steering.step(draw.choice([None, math.nan, math.inf, -1e12, 1e12, 0.0, 100.0, draw.gauss(100, 40)]))
        assert 2.0 <= level <= 50.0
        assert abs(level - before) <= 5.0 + 1e-9
        before = level


def test_without_a_value_the_level_stays() -> None:
    steering = controller(100.0, 5.0, 40.0)
    assert [steering.step(None) for _ in range(5)] == [4.0] * 5


def test_a_load_that_makes_its_own_values_does_not_stay_at_nothing() -> None:
    """At no load there are no response times: a level that came down to it would never leave it."""
    levels = {}
    for own in (False, True):
        steering = Controller(100.0, 5.0, LevelBounds(0.0, 40.0, 4.0), 4.0, own=own)
        steering.level = 0.0
        levels[own] = [steering.step(None) for _ in range(6)]
    assert levels == {False: [0.0] * 6, True: [0.0] * 3 + [4.0] * 3}


def test_the_bank_finds_gain_and_dead_time_of_an_integrator() -> None:
    bank, random_ = Bank(10, 0.001), np.random.default_rng(2)
    levels, value = [0.0] * 20, 0.0
    for second in range(80):
        level = 0.2 + 0.3 * (second // 8 % 2)
        bank.applied(level)
        levels.append(level)
        value += 0.05 * levels[-1 - 4] - 0.01 + 0.0005 * float(random_.standard_normal())
        bank.learn(value)
    model = bank.best()
    assert (model.lag, model.dead) == (1.0, 4)
    assert model.gain == pytest.approx(0.05, rel=0.05)
    assert model.known


@pytest.mark.parametrize("seed", range(8))
def test_a_system_that_was_saturated_when_the_hold_began_is_held_all_the_same(seed: int) -> None:
    """Four clients keep it busy, more change nothing: what was learned of twenty of them must not count for long."""
    noise, plant = np.random.default_rng(seed), 50.0
    steering = Controller(2 * plant, 15.0, LevelBounds(1, 20, 1.9, whole=True), 20)
    level, values = 20.0, []
    for _ in range(120):
        values.append(min(level, 4.0) * plant * (1 + 0.03 * float(noise.standard_normal())))
        level = steering.step(values[-1])
        assert level == int(level)
    inside = np.abs(np.array(values[40:]) - 2 * plant) <= 15
    assert inside.mean() >= 0.8


MINUTES_A_DAY = 24 * 60


@pytest.mark.long
def test_a_queue_is_held_for_four_days_as_in_2009() -> None:
    """500 slots, jobs of an hour, 5,000 waiting, a sample a minute: what the controller learns does not drift away."""
    days, settle = 4 * MINUTES_A_DAY, 180
    slots, hour, set_point, band = 500, 60.0, 5000.0, 250.0
    plant = Queue(slots, lambda random: float(random.uniform(0.5 * hour, 1.5 * hour)), dead=1, cycle=1)
    values = np.array(held(plant, controller(set_point, band, 100.0), FIRST_SEED, settle, days))
    inside = np.abs(values - set_point) <= band
    assert len(values) == days
    assert inside.mean() >= 0.95
    first, last = inside[:MINUTES_A_DAY].mean(), inside[-MINUTES_A_DAY:].mean()
    assert last >= first - 0.02, "the last day is as good as the first"
