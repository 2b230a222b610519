"""A chart."""

from collections import Counter
from collections.abc import Iterator

from pileup.plugin import RunResults
from pileup.plugin.charts import Chart, Clock, Drawing, Group
from pileup.plugin.charts.drawing import finish, layer_of, named

TABLE = "toy_outcomes"


class Outcomes(Chart):
    """How many cases ended how."""

    name = "toy-outcomes"
    section = "Toys"

    def draw(self, results: RunResults, axis: Clock) -> Iterator[Group]:
        """Yield one drawing."""
        found = Counter(str(case.outcome) for case in results.cases)
        bars = named(TABLE).mark_bar().encode(y="outcome:N", x="cases:Q")
        drawing = Drawing(TABLE, "Outcomes", "cases", finish([layer_of(bars)], 60), TABLE, timed=False)
        yield Group([drawing], {TABLE: {"outcome": list(found), "cases": list(found.values())}})
