"""The new run drawn over the baseline: curves inside their frame, round ticks, and the same in a sentence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup.builtin.reports.html import HtmlReport, overlay
from pileup.model.contrast import Overlay
from tests.unit.builtin.reports.compared import compared

SHARES = ((1e6, 0.25), (2e7, 0.5), (4e7, 0.9), (9e7, 1.0))


def points(line: str) -> list[tuple[float, float]]:
    return [tuple(map(float, pair.split(","))) for pair in line.split()]  # type: ignore[misc]


def test_response_times_are_cumulative_over_a_logarithm() -> None:
    slow = tuple((x * 10, share) for x, share in SHARES)
    found = overlay.picture(Overlay("read", "response times", SHARES, slow))
    old, new = points(found.baseline), points(found.candidate)
    assert old[0][0] == overlay.LEFT
    assert new[-1] == (overlay.WIDTH - overlay.RIGHT, overlay.TOP)
    shifts = [after[0] - before[0] for before, after in zip(old, new, strict=True)]
    assert max(shifts) - min(shifts) < 0.3, "ten times as long is the same way everywhere"
    assert [tick.text for tick in found.y] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert [tick.text for tick in found.x] == ["1 ms", "10 ms", "100 ms"]
    assert found.told == "Half of what passed took 200 ms or less in the new run, 20 ms or less in the baseline."


def test_a_rate_is_over_time_from_zero() -> None:
    found = overlay.picture(Overlay("read", "rate", ((1.0, 100.0), (10.0, 120.0)), ((1.0, 50.0), (10.0, 70.0))))
    assert [tick.text for tick in found.x] == ["0 s", "2 s", "4 s", "6 s", "8 s", "10 s"]
    assert found.y[0].text == "0 /s"
    assert found.told == "On average 60 /s passed in the new run, 110 /s in the baseline."


@given(
    st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1e9)), min_size=2, max_size=9),
    st.sampled_from(["rate", "response times"]),
)
def test_whatever_is_drawn_stays_in_its_frame(curve: list[tuple[float, float]], what: str) -> None:
    drawn = tuple(sorted(curve)) if what == "rate" else tuple((x, min(1.0, y)) for x, y in sorted(curve))
    found = overlay.picture(Overlay("read", what, drawn, drawn[:1]))
    ends = [*points(found.baseline), *points(found.candidate)]
    assert all(overlay.LEFT <= x <= overlay.WIDTH - overlay.RIGHT + 0.1 for x, _ in ends)
    assert all(overlay.TOP - 0.1 <= y <= overlay.HEIGHT - overlay.BOTTOM for _, y in ends)
    assert 1 <= len(found.x) <= 8
    assert 1 <= len(found.y) <= 8


@pytest.fixture(scope="module")
def page() -> str:
    return HtmlReport().compared(compared()).decode()


def test_the_page_draws_the_new_run_over_the_baseline(page: str) -> None:
    pictures = re.findall(r'<svg class="overlay".*?</svg>', page, re.DOTALL)
    assert len(pictures) == 4, "times and rate of one test, for two runs"
    for picture in pictures:
        assert picture.index('class="old"') < picture.index('class="new"'), "what is drawn last lies on top"
        assert re.search(r'role="img" aria-label="copy, \S.*in the baseline', picture)
