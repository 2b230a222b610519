"""Figures that pileup reports beside the same figures by the log of the server."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pileup.model.figures import Figure
from pileup.model.results import OperationResult
from pileup.record import RunFolder
from tests.truth.press import Condition, Pressed

SECOND, MS = 10**9, 10**6
SHARES = (0.5, 0.9, 0.99)
NEAR = 0.01
"""Rates and counts agree within 1 %."""
EDGE = 1.5
"""Answers that may be on either side of an edge of the window: the log notes them before pileup has them.

Where other work on the machine holds up everybody, there are more: witnesses say how late it makes them (`press.py`).
"""
RANKS = 2
"""Ranks by which a quantile may be off where answers and timeouts meet."""
OWN_WAITS = ("expect-wait", "reconnect-pause")
"""Operations in which pileup itself waits."""
FEW = 10
"""With fewer values beyond a quantile, "too few" is right."""
TIMES = (0.02, 3 * MS)
"""How far times may be apart: a share, or ns; the log ends before the answer has come, and begins after it was due."""


@dataclass(frozen=True)
class Line:
    """A figure: what the log says, what pileup says."""

    figure: str
    truth: str
    told: str
    agrees: bool


@dataclass(frozen=True)
class Due:
    """An iteration that was due in the window, by the record and the log."""

    intended: int
    start: int
    status: int
    """0: no answer, or none that the client still waited for."""
    ended: int
    """By the log, ns; 0: never."""
    timed_out: bool

    @property
    def response(self) -> float:
        """When the log answered it, ns from when it was due."""
        return self.ended - self.intended if self.ended else math.inf

    @property
    def passed(self) -> bool:
        """Whether the client got the answer that it wanted."""
        return self.status == 200 and not self.timed_out


class Seen:
    """What a server did under one condition, and in what window pileup measured it."""

    def __init__(self, run: Pressed, name: str) -> None:
        self.run, self.condition = run, run.conditions[name]
        self.case = run.case(name)
        self.rows = rows(run, name)
        self.begin, self.end = window(self.condition, self.rows)
        self.ended = [line for line in run.servers[name].lines("ended") if line["id"] in self.rows]
        self.due = self._due()
        self.late_by = run.late(self.begin, max(row["end"] for row in self.rows.values()))

    @property
    def told(self) -> OperationResult:
        """What pileup says of the iterations."""
        assert self.case.iterations is not None, f"no figures of {self.case.name}: {self.case.reason}"
        return self.case.iterations

    @property
    def seconds(self) -> float:
        """Length of the window."""
        return (self.end - self.begin) / SECOND

    @property
    def near(self) -> float:
        """How far a time may be from the log's, ns: 3 ms, or what others on this machine were late by."""
        return TIMES[1] + self.late_by

    @property
    def edge(self) -> float:
        """How many answers may be on the other side of an edge of the window, or of a timeout."""
        return EDGE + self.late_by / SECOND * len(self.inside) / self.seconds

    @property
    def missed(self) -> int:
        """How many were due in the window and never came: of a closed load none."""
        rate = self.condition.rate
        return max(0, round(rate * self.condition.length) - len(self.due)) if rate else 0

    @property
    def inside(self) -> list[dict[str, Any]]:
        """Lines of answers in the window that a client got."""
        return [
            line
            for line in self.ended
            if self.begin <= line["time"] < self.end and not line["gone"] and not self.late(line, self.rows[line["id"]])
        ]

    def late(self, line: dict[str, Any], row: dict[str, Any]) -> bool:
        """Whether the client did not wait so long."""
        return bool(self.condition.timeout) and line["time"] - row["start"] > self.condition.timeout * SECOND

    def _due(self) -> list[Due]:
        lines = {line["id"]: line for line in self.ended}
        return [self._one(row, lines.get(number)) for number, row in self.rows.items() if row["phase"] == "measure"]

    def _one(self, row: dict[str, Any], line: dict[str, Any] | None) -> Due:
        if line is None:
            timed = bool(self.condition.timeout) and row["end"] - row["start"] >= self.condition.timeout * SECOND
            return Due(row["intended"], row["start"], 0, 0, timed)
        return Due(row["intended"], row["start"], line["status"], line["time"], self.late(line, row))


def rows(run: Pressed, name: str) -> dict[int, dict[str, Any]]:
    """Return the iterations of a case by the number that their request bore: when they were due, began, ended, and how.

    An iteration that is more than its one request, for a wait of pileup's own is in it, has an operation that has it.
    """
    columns = ("id", "parent", "operation", "intended", "start", "end", "phase", "outcome")
    where = f"\"case\" = '{name}' AND phase NOT IN ('set-up', 'clean-up')"
    found = RunFolder.open(run.folder).operations().arrays(*columns, where=where)
    values = zip(*(found[column].tolist() for column in columns), strict=True)
    every = [dict(zip(columns, each, strict=True)) for each in values]
    bearers = {row["parent"]: row["id"] for row in every if row["parent"] and row["operation"] not in OWN_WAITS}
    whole = [row for row in every if not row["parent"] and row["operation"] not in OWN_WAITS]
    return {bearers.get(row["id"], row["id"]): row for row in whole}


def window(condition: Condition, found: dict[int, dict[str, Any]]) -> tuple[int, int]:
    """Return the measured time as the suite plans it, from the first start: a constant rate or client 0 begins at 0."""
    begin = min(row["intended"] for row in found.values()) + round((condition.ramp + condition.warm_up) * SECOND)
    return begin, begin + round(condition.length * SECOND)


def lines(run: Pressed, name: str, quantiles: bool = True) -> Iterator[Line]:
    """Yield the figures of a case, told and true."""
    seen = Seen(run, name)
    yield rate(seen)
    yield bandwidth(seen)
    yield from counts(seen)
    yield share(seen)
    if quantiles:
        for each in SHARES:
            yield quantile(seen, each)


def rate(seen: Seen) -> Line:
    """What ended passed in the window."""
    passed = [line for line in seen.inside if line["status"] == 200]
    return per_second("rate", len(passed), seen, seen.told.rate, edge=seen.edge, unit="/s")


def bandwidth(seen: Seen) -> Line:
    """Bytes of bodies that came in the window, those of refusals too."""
    whole = [line["sent"] for line in seen.inside]
    most = max(whole, default=0)
    told = seen.told.throughput
    return per_second("bytes", sum(whole), seen, told, edge=seen.edge * most, unit="B/s")


def per_second(name: str, amount: float, seen: Seen, told: Figure, *, edge: float, unit: str) -> Line:
    """Compare something by the second of the window."""
    truth = amount / seen.seconds
    value = told.value
    agrees = value is not None and abs(value - truth) <= max(NEAR * truth, edge / seen.seconds)
    if longer_than_window(seen) and told.interval is not None and not (value == 0 < truth):
        agrees = agrees or told.interval.low <= truth <= told.interval.high
    return Line(name, f"{truth:.4g} {unit}", "nothing" if value is None else f"{value:.4g} {unit}", agrees)


def longer_than_window(seen: Seen) -> bool:
    """Whether half of the requests take longer than the window is."""
    times = sorted(each.ended - each.start if each.ended else math.inf for each in seen.due)
    return bool(times) and times[len(times) // 2] > seen.end - seen.begin


def counts(seen: Seen) -> Iterator[Line]:
    """Outcomes of what was due in the window."""
    told = seen.told.counts
    truth: dict[str, int] = {
        "passed": sum(each.passed for each in seen.due),
        "refused": sum(each.status == 503 and not each.timed_out for each in seen.due),
        "ambiguous": sum(each.timed_out for each in seen.due),
        "missed": seen.missed,
    }
    for word, count in truth.items():
        said = getattr(told, word)
        # an answer and a timeout may cross on their way
        slack = seen.edge if word in {"passed", "ambiguous"} and seen.condition.timeout else 0
        yield Line(word, str(count), str(said), abs(said - count) <= slack)


def share(seen: Seen) -> Line:
    """The share of what was due that did not pass."""
    due = len(seen.due) + seen.missed
    truth = 1 - sum(each.passed for each in seen.due) / max(1, due)
    told = seen.told.not_passed.value
    slack = seen.edge / max(1, due) if seen.condition.timeout else 0
    agrees = told is not None and abs(told - truth) <= max(0.005, slack)
    return Line("did not pass", f"{truth:.1%}", "nothing" if told is None else f"{told:.1%}", agrees)


def quantile(seen: Seen, share: float) -> Line:
    """A quantile of response times over all that was due: timeouts are slower than what passed, the rest than these."""
    figure: Figure = seen.told.quantiles[share]
    passed = sorted(each.response for each in seen.due if each.passed)
    timed_out = sorted(each.response for each in seen.due if each.timed_out)
    n = len(seen.due) + seen.missed
    rank = math.ceil(round(share * n, 6)) - 1
    wide = round(max(RANKS, seen.edge if seen.condition.timeout else 0))
    ranks = range(max(0, rank - wide), min(n - 1, rank + wide) + 1)
    agrees = any(_same(figure, each, passed, timed_out, seen) for each in ranks)
    agrees = agrees or (figure.value is None and figure.above is None and n * (1 - share) < FEW)
    known = [*passed, *timed_out]
    truth = known[rank] if rank < len(known) else math.inf
    return Line(f"p{share * 100:g}", time_word(truth), quantile_word(figure), agrees)


def _same(figure: Figure, rank: int, passed: list[float], timed_out: list[float], seen: Seen) -> bool:
    """Whether a figure is right for what has this rank."""
    if rank < len(passed):
        return figure.value is not None and near(figure.value, passed[rank], seen)
    if rank < len(passed) + len(timed_out):
        bound = seen.condition.timeout * SECOND
        return figure.value is None and figure.above is not None and near(figure.above, bound, seen)
    return figure.value is None and figure.above == math.inf


def near(told: float, truth: float, seen: Seen) -> bool:
    """Whether two times are the same."""
    return abs(told - truth) <= max(TIMES[0] * truth, seen.near)


def time_word(value: float) -> str:
    """Return a time for the table."""
    if math.isinf(value):
        return "no answer"
    return f"{value / SECOND:.3g} s" if value >= SECOND else f"{value / MS:.3g} ms"


def quantile_word(figure: Figure) -> str:
    """Return a quantile for the table."""
    if figure.value is not None:
        return time_word(figure.value)
    above: float | None = getattr(figure, "above", None)
    return figure.note or "nothing" if above is None else ("" if math.isinf(above) else "> ") + time_word(above)


def wrong(found: Iterator[Line]) -> list[Line]:
    """Return what does not agree."""
    return [line for line in found if not line.agrees]
