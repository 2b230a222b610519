"""The chart of tails: how long each query went on after a worker had found nothing left, and who was last with what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from pileup.builtin.analysis.query_charts import reported
from pileup.plugin.charts import Chart, Clock, Columns, Drawing, Group
from pileup.plugin.charts.columns import short

if TYPE_CHECKING:
    from pileup.plugin.results import RunResults

MOST = 20
"""Tails that are shown, the longest."""
ROW, EDGE = 16, 40
"""Height of a bar and of what is around all of them, pixels."""
WHY = {
    "lost": "its worker before was lost",
    "late": "it took more than twice what its events should take",
    "afar": "its file is of another node",
    "last": "it was just the last one",
}


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a query."""

    case: str
    seconds: float
    worker: str
    packet: str
    """File and events."""
    why: str

    def says(self) -> str:
        """Return it in words."""
        told = f"{self.seconds:.3g} s in {self.case}: worker {self.worker} read {self.packet} last"
        return f"{told}; {WHY.get(self.why, self.why)}."


class QueryStragglers(Chart):
    """The longest tails of queries that several workers run together, with who was last, with which packet, and why.

    A tail is from when a worker first found no packet that nobody had until the end of the query.
    """

    name = "query-stragglers"
    section = "Queries"
    place = 30

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield one drawing."""
        del axis
        if found := tails_of(results)[:MOST]:
            drawing, table = _bars(found)
            yield Group([drawing], {self.name: table}, "Tails", notes=[f"The longest: {found[0].says()}"], small=True)


def tails_of(results: RunResults) -> list[Tail]:
    """Return the tails of all queries, the longest first."""
    found = [
        Tail(case.name, seconds, labels.get("worker", ""), labels.get("packet", ""), labels.get("why", ""))
        for case in results.cases
        for labels, values in reported(results, case, "tail_seconds")
        for seconds in values
    ]
    return sorted(found, key=attrgetter("seconds"), reverse=True)


def _bars(tails: list[Tail]) -> tuple[Drawing, Columns]:
    import altair as alt  # noqa: PLC0415  it takes a second, and `pileup list` loads every chart

    from pileup.plugin.charts.drawing import amount_axis, color, finish, layer_of, named  # noqa: PLC0415

    name = QueryStragglers.name
    table: Columns = {
        "number": [str(number) for number, _ in enumerate(tails, 1)],
        "case": [each.case for each in tails],
        "seconds": [short(each.seconds) for each in tails],
        "worker": [each.worker for each in tails],
        "packet": [each.packet for each in tails],
        "why": [each.why for each in tails],
        "label": [f"{each.packet} · worker {each.worker} · {each.why}" for each in tails],
    }
    rows = alt.Y("number:N", sort=None, title=None, axis=alt.Axis(labels=False, ticks=False, grid=False))
    amount = alt.X("seconds:Q", axis=amount_axis(tickCount=4), scale=alt.Scale(zero=True), title=None)
    tips = [alt.Tooltip(f"{each}:N") for each in ("case", "worker", "packet", "why")]
    base = named(name)
    bars = base.mark_bar(fill=color(0), opacity=0.4).encode(x=amount, y=rows, tooltip=tips)
    words = base.mark_text(align="left", dx=4, fontSize=11).encode(x=alt.value(0), y=rows, text=alt.Text("label:N"))
    spec = finish([layer_of(bars), layer_of(words)], len(tails) * ROW + EDGE)
    columns = {
        "case": "query",
        "seconds": "s",
        "worker": "worker",
        "packet": "file and events",
        "why": "why it was last",
    }
    return Drawing(name, "Longest tails", "s", spec, name, timed=False, columns=columns), table
