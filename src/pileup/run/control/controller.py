"""Feedback: the level of a load so that a measured quantity stays at a set point, behind a dead time not known before.

A Smith predictor (Smith 1957) with a model learned on line (`Bank`): what is on its way already, the levels of the dead
time, is predicted; the level asks the rest of the way to the set point at a pace that the dead time allows (internal
model control, Garcia and Morari 1982). The disturbance that is learned with the model makes up for what no model knows,
as the integral of a PI controller does. Nothing winds up: the model learns from the levels there really were, cut to
bounds and to the largest change per sample. A gain that is not sure yet counts as larger (cautious control).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from pileup.run.control.bank import Bank, Model

MOST_DEAD = 30
"""Longest dead time, in samples, that is considered."""
NOISE = 0.1
"""Smallest noise of the values that is assumed, as a share of the band."""
FIRST = 4
"""Samples of the first level that is tried."""
SHOWN = 2
"""Samples after the dead time in which a level shows its effect."""
RAISE = 1.6
"""Factor between the two levels that are tried in turn at the beginning."""
BLIND = 3
"""Samples without a value after which a load counts as too small to produce values, if they come from the load."""
PATIENCE = 0.4
"""Time to reach the set point, as a share of the dead time, plus one sample."""


@dataclass(frozen=True, slots=True)
class LevelBounds:
    """What a level may be: between `low` and `high`, changed by at most `step` per sample."""

    low: float
    high: float
    step: float
    whole: bool = False
    """Whether only whole numbers are levels, as of clients."""


@dataclass(slots=True)
class Controller:
    """Stepped once per sample: takes the value, gives the level for the next sample.

    `set_point` in the unit of the values, levels in the unit of the bounds. `start` is the first level.
    """

    set_point: float
    band: float
    """Half of the width of the band: what is far below it is taken as noise."""
    bounds: LevelBounds
    start: float
    sign: int = 1
    """1: a higher level gives a higher value; -1: a lower one."""
    most_dead: int = MOST_DEAD
    """Longest dead time, in samples, that there may be: the shorter, the sooner levels are known to have shown all."""
    own: bool = False
    """Whether values come from the load itself, such as response times: without a load there are none."""
    level: float = field(init=False)
    model: Model | None = field(init=False, default=None)
    """The model of the system; None while levels are tried."""
    _scale: float = field(init=False)
    _bank: Bank = field(init=False)
    _left: int = field(init=False)
    _turns: int = field(init=False, default=0)
    _blind: int = field(init=False, default=0)
    _below: int = field(init=False, default=0)
    """Samples in a row below the band that was reached, of those at which nothing is known of the system."""
    _arrived: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.level = min(max(self.start, self.bounds.low), self.bounds.high)
        self._scale = abs(self.set_point) or self.band
        self._left = self._trial
        self._bank = Bank(self.most_dead, NOISE * self.band / self._scale, self.sign)
        self._bank.applied(self.level / self.bounds.high)

    def step(self, value: float | None) -> float:
        """Return the level for the next sample; `value` is None when nothing could be measured.

        `level` stays as it was wanted where only whole numbers can be given, so that small changes add up.
        """
        scaled = None if value is None or not math.isfinite(value) else value / self._scale
        # on the first approach surprises are informative, and all models are used
        self._bank.learn(scaled, changes=self._arrived)
        self._blind = self._blind + 1 if scaled is None else 0
        wanted = self._unseen() if scaled is None else self._wanted(scaled)
        change = min(max(wanted - self.level, -self.bounds.step), self.bounds.step)
        self.level = min(max(self.level + change, self.bounds.low), self.bounds.high)
        given = float(round(self.level)) if self.bounds.whole else self.level
        self._bank.applied(given / self.bounds.high)
        return given

    def _unseen(self) -> float:
        """Return the level while nothing is measured: unchanged, or the start if a lower level may be the reason."""
        return max(self.level, self.start) if self.own and self._blind > BLIND else self.level

    def _wanted(self, value: float) -> float:
        # the first approach assumes the longest possible dead time: what is submitted too early cannot be called back
        if not self._arrived and self.sign * (value - (self.set_point - self.band) / self._scale) >= 0:
            self._arrived = True
            if self._turns == 0 or not self._bank.best().known:
                # another load has brought it here, such as a ramp that is seen late: that says nothing about these
                # levels. One level alone cannot separate its effect from what happens anyway
                self._bank.forget()
        model = self._bank.best() if self._arrived else self._bank.slowest()
        self.model = model if model.known else None
        if not model.known:
            return self._tried(value)
        there = model.after(value, self._bank.levels(model.dead))
        pace = 1 - math.exp(-1 / (1 + PATIENCE * model.dead))
        resting = ((1 - model.lag) * there - model.drift) / model.gain
        cautious = model.gain + model.gain_error**2 / model.gain
        return (resting + pace * (self.set_point / self._scale - there) / cautious) * self.bounds.high

    @property
    def _trial(self) -> int:
        """Samples for which a level is tried: its effect shows after the longest dead time at the latest."""
        return min(FIRST * (1 + self._turns // 2), self.most_dead + SHOWN)

    def _tried(self, value: float) -> float:
        """Return one of two levels in turn, each time for longer and higher, to see what the system does to them.

        Above the set point the level goes down a step at each sample: it is not known yet whether anything else leads
        back. What has been in the band and falls below it is led back by a step up every few samples.
        """
        above = self.sign * (value - self.set_point / self._scale)
        self._below = self._below + 1 if self._arrived and above < -self.band / self._scale else 0
        if above > 0:
            return self.level / RAISE
        lowest = max(self.start, 0.02 * self.bounds.high)
        self._left -= 1
        if self._below:
            return max(lowest, self.level) * (RAISE if self._below % FIRST == 0 else 1.0)
        if self._left <= 0:
            self._turns += 1
            self._left = self._trial
        return lowest * RAISE ** (self._turns % 2 + self._turns // 2)
