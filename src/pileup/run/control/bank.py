"""Which of many simple models explains what a level does to a measured quantity, learned while the load goes on.

Each model says z[k] = a z[k-1] + b v[k-1-d] + c: a first-order lag (a = 1: an integrator, such as a queue; a = 0: no
memory) behind a dead time of d samples, with a disturbance c that drifts (the drain of a queue). For every pair (a, d)
a Kalman filter learns b and c; the pair whose one-step predictions were best is believed (multiple-model adaptive
estimation, Magill 1965).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LAGS = (0.0, 0.5, 0.8, 0.93, 1.0)
"""Values of a."""
DRIFT_GAIN = 0.002
"""Share of itself by which the gain b may change per sample (standard deviation)."""
DRIFT = 0.2
"""Standard deviation of the change of c per sample, in units of the prediction error, over the root of the samples that
a level takes to show: what is multiplied by a long dead time must not follow noise."""
MEMORY = 0.998
"""Weight of the past in the mean squared prediction error, per sample."""
BETTER = 0.93
"""Factor by which a model must predict better than the current one to replace it."""
LEAST = 1e-12
UNKNOWN = 1e2
"""Variance of b and c before anything is known, in squares of the whole range."""

SURPRISE = 16.0
"""Squared error of the current model, in units of its prediction, from which the system counts as changed: a queue has
formed, or a level has no more effect because everything is busy.
"""
ANEW = 10.0
"""Factor by which the variances of all models grow then, so that what was learned counts for less."""

ALIKE = 1.5
"""A model whose squared errors are at most this factor times those of the best may be equally right."""
SURE = 3.0
"""Standard deviations by which a gain must differ from zero to be known."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Model:
    """One model with what was learned. Levels and values are shares of their ranges."""

    lag: float
    dead: int
    """Samples between a level and the first value that feels it, beyond the next."""
    gain: float
    drift: float
    gain_error: float
    """Standard deviation of the gain."""

    @property
    def known(self) -> bool:
        """Whether the gain is surely not zero."""
        return abs(self.gain) > SURE * self.gain_error

    def after(self, value: float, levels: list[float]) -> float:
        """Return the value after so many samples at these levels."""
        for level in levels:
            value = self.lag * value + self.gain * level + self.drift
        return value


class Bank:
    """Models for every lag and every dead time up to `most` samples.

    Differences of values below `floor` are taken as noise. `sign` is that of the gain, which is known: 1 or -1.
    """

    def __init__(self, most: int, floor: float, sign: int = 1) -> None:
        self._floor, self._sign = floor**2, sign
        pairs = [(lag, dead) for dead in range(most + 1) for lag in LAGS]
        self._lags = np.array([lag for lag, _ in pairs])
        self._dead = np.array([dead for _, dead in pairs])
        self._drifting = DRIFT**2 / (1.0 + self._dead)
        self.forget()
        self._levels: deque[float] = deque([0.0] * (most + 2), maxlen=most + 2)
        """The newest last; before the beginning there was no load."""
        self._value: float | None = None

    def forget(self) -> None:
        """Begin to learn again; the levels that were applied, and the newest value, are known still."""
        count = len(self._lags)
        self._gain, self._drift = np.zeros(count), np.zeros(count)
        self._bb, self._bc, self._cc = np.full(count, UNKNOWN), np.zeros(count), np.full(count, UNKNOWN)
        self._errors = np.zeros(count)
        self._weight = 0.0
        self._believed: int | None = None

    def levels(self, count: int) -> list[float]:
        """Return the newest `count` levels, oldest first."""
        return list(self._levels)[len(self._levels) - count :]

    def applied(self, level: float) -> None:
        """Set the level that applies from now on."""
        self._levels.append(level)

    def learn(self, value: float | None, changes: bool = False) -> None:
        """Take a value in, measured after the level applied last has held for one sample; None: not known.

        `changes` says that the system may become another one: then much of what was learned is given up at a surprise.
        """
        before, self._value = self._value, value
        if before is None or value is None:
            return
        v = np.array(self._levels)[len(self._levels) - 1 - self._dead]
        wrong = value - self._lags * before - self._gain * v - self._drift
        noise = max(self._floor, self._noise())
        predicted = self._bb * v * v + 2 * self._bc * v + self._cc + noise
        if changes and self._believed is not None and wrong[self._believed] ** 2 > SURPRISE * predicted[self._believed]:
            known = (self._bb, self._bc, self._cc)
            self._bb, self._bc, self._cc = (np.clip(each * ANEW, -UNKNOWN, UNKNOWN) for each in known)
            predicted = self._bb * v * v + 2 * self._bc * v + self._cc + noise
        gain_b, gain_c = (self._bb * v + self._bc) / predicted, (self._bc * v + self._cc) / predicted
        self._gain += gain_b * wrong
        self._drift += gain_c * wrong
        self._bb = np.clip(self._bb - gain_b**2 * predicted, LEAST, None) + (DRIFT_GAIN * self._gain) ** 2
        self._cc = np.clip(self._cc - gain_c**2 * predicted, LEAST, None) + self._drifting * noise
        together = np.sqrt(self._bb * self._cc)
        self._bc = np.clip(self._bc - gain_b * gain_c * predicted, -together, together)
        # errors are weighted by the certainty of the prediction: what a model could not know yet does not count against
        # it
        self._errors = MEMORY * self._errors + wrong**2 * noise / predicted
        self._weight = MEMORY * self._weight + 1

    def _noise(self) -> float:
        """Return the mean squared prediction error of the best model."""
        return float(self._errors.min() / self._weight) if self._weight > 3 else self._floor

    def best(self) -> Model:
        """Return the model that is believed now: of the smallest error, and clearly so when that is another."""
        errors = np.where(self._gain * self._sign > 0, self._errors, np.inf)
        first = int(np.argmin(errors))
        if self._believed is None or errors[first] < BETTER * errors[self._believed]:
            self._believed = first
        return self._model(self._believed)

    def slowest(self) -> Model:
        """Return, of all models that explain what was seen about as well as the best, that of the longest dead time."""
        sure = self._gain * self._sign > SURE * np.sqrt(self._bb)
        errors = np.where(sure, self._errors, np.inf)
        alike = np.flatnonzero(errors <= ALIKE * errors.min() + self._floor)
        return self._model(int(alike[-1])) if sure.any() else self.best()

    def _model(self, at: int) -> Model:
        return Model(
            float(self._lags[at]),
            int(self._dead[at]),
            float(self._gain[at]),
            float(self._drift[at]),
            float(np.sqrt(self._bb[at])),
        )
