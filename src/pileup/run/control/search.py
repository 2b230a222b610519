"""Which level to try next in a search for the highest one that meets its conditions; stepped, no clock inside."""

from __future__ import annotations

from dataclasses import dataclass, field

from pileup.model.loads.find import MOST_MEASURED
from pileup.stats.loads.knee import Evidence, Knee

FACTOR = 2.0
"""From one level to the next while all of them pass, or none."""
ASKED = (0.1, 0.5, 0.9)
"""A trial is made at the level below which the knee lies with this probability, by turns: at the median, and on both
sides of it, where trials also show how wide the range is in which they disagree."""
AGAIN = 2
"""Most trials in a row that are repeated because pileup disturbed them; more are its limit, not a disturbance."""
LEAST_STEP = 0.5
"""From a level that was measured and failed to the next one: by the precision asked for, then by 4 and 9 times as much,
down to this: the first may be chance, more than one says that trials were too short to see what comes."""
SURE = 0.95
"""How probable it must be that the answer lies beyond a bound for the search to end there."""


@dataclass(slots=True)
class Search:
    """Levels between `low` and `high`, above zero; `whole` ones only for clients.

    It begins at `start` and doubles until a level fails (or halves until one passes); then levels are chosen by what
    all trials together say, until the answer is known `within` a share of itself, or `most` trials are made.
    """

    low: float
    high: float
    start: float
    within: float
    most: int
    whole: bool = False
    trials: int = 0
    _evidence: Evidence = field(init=False)
    _seen: set[bool] = field(init=False, default_factory=set)
    _level: float | None = field(init=False, default=None)
    """That of the last trial."""
    _passed: bool | None = field(init=False, default=None)

    _spoilt: int = field(init=False, default=0)
    """Trials in a row that must be repeated."""

    def __post_init__(self) -> None:
        self._evidence = Evidence(self.low, self.high)

    def next(self) -> float | None:
        """Return the level to try; None when the search is over."""
        if self.trials >= self.most or self.known:
            return None
        level = min(max(self._wanted(), self.low), self.high)
        return float(round(level)) if self.whole else level

    def take(self, level: float, passed: bool | None, limited: bool = False) -> bool:
        """Take the outcome of a trial; None: too few operations for a result, so a higher level is tried.

        `limited` says that it failed for reasons that may be gone the next time: it is repeated, a few times. Return
        whether it counts.
        """
        self.trials += 1
        self._spoilt = self._spoilt + 1 if limited else 0
        if 0 < self._spoilt <= AGAIN:
            return False
        self._spoilt = 0
        self._level, self._passed = level, passed
        if passed is not None:
            self._seen.add(passed)
            self._evidence.add(level, passed)
        return True

    @property
    def answer(self) -> Knee:
        """The current result."""
        return self._evidence.knee()

    @property
    def known(self) -> bool:
        """Whether enough is known."""
        if self._level is None:
            return False
        if self._passed is None:
            return self._level >= self.high
        found = self.answer
        if len(self._seen) < 2:
            return self._level in (self.low, self.high) and max(found.below, found.above) > SURE
        return found.within(self.within) or (self.whole and int(found.low) == int(found.high))

    def _wanted(self) -> float:
        if self._level is None:
            return self.start
        if len(self._seen) == 2:
            return self._evidence.at(ASKED[self.trials % len(ASKED)])
        return self._level / FACTOR if self._passed is False else self._level * FACTOR

    def missed(self, level: float) -> None:
        """Add that a level did not meet the conditions while it was measured: a trial that does not count against
        `most`.
        """
        self._evidence.add(level, False)


@dataclass(slots=True)
class Confirm:
    """Which level is measured once `search` is over: its lower end, then lower ones while what is measured fails."""

    search: Search
    measured: int = 0
    _level: float | None = field(init=False)

    def __post_init__(self) -> None:
        self._level = self._within(self.search.answer.low)

    def next(self) -> float | None:
        """Return the level to measure; None when that is over."""
        return self._level if self.measured < MOST_MEASURED else None

    def take(self, level: float, passed: bool | None, limited: bool = False) -> None:
        """Take the result of measuring a level: another one is measured only if the conditions were not met.

        `limited` says that pileup was to blame: the same level is measured again.
        """
        self.measured += 1
        if passed is not False:
            self._level = None
        elif not limited:
            self.search.missed(level)
            step = max(LEAST_STEP, 1 - self.measured**2 * self.search.within)
            lower = self._within(min(self.search.answer.low, level * step, level - 1 if self.search.whole else level))
            self._level = lower if lower < level else None

    def _within(self, level: float) -> float:
        level = min(max(level, self.search.low), self.search.high)
        return float(int(level)) if self.search.whole else level
