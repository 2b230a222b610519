"""The slope of sessions over what is added to their round trips."""

from __future__ import annotations

import pytest

from pileup.plugin.sessions.session import session
from pileup.stats.sessions.slope import Line, line
from tests.sessions import MS, Made


def test_the_slope_is_the_number_of_round_trips() -> None:
    sessions = []
    for added in (0, 10 * MS, 50 * MS, 150 * MS):
        for noise in (-1, 0, 1):
            made = Made(0, added)
            for _ in range(7):
                made.ask(10, 2 * MS)
            sessions.append(session([made.connection()], 0, made.now + (3 + noise) * MS, added))
    found = line(sessions)
    assert found is not None
    assert found.slope == pytest.approx(8, abs=1e-9)
    assert found.low <= 8 <= found.high and found.high - found.low < 0.02
    assert found.intercept == pytest.approx(14 * MS)
    assert found.agrees(8) is True and found.agrees(7) is False
    assert Line(9.0, 5.0, 13.0, 0.0).agrees(8) is None
    assert line(sessions[:3]) is None and line(sessions[:2]) is None
