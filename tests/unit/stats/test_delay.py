"""How late the iterations of a case began, over its measured time."""

import pytest

from pileup.model.record import Phase
from pileup.stats.cases import CaseData, case_result
from tests.manifests import case_of

MS = 10**6
OPEN = {"id": 1, "name": "copy", "test": "copy", "load_kind": "open", "rate": 10.0, "clients": 4}


def delay(info, *frames):
    return case_result(CaseData(case_of(info), list(frames), None), {}).delay


def test_the_delays_of_all_places_and_seconds_are_one_distribution(row, frame):
    frames = [
        frame(1, row([20 * MS] * 60), late=[MS] * 60),
        frame(2, row([20 * MS] * 38), late=[3 * MS] * 38),
        frame(2, row([20 * MS] * 2), late=[90 * MS] * 2, place=1),
    ]
    found = delay(OPEN, *frames)
    assert found.n == 100
    assert found.p50 == pytest.approx(MS, rel=0.002)
    assert found.p99 == found.largest == pytest.approx(90 * MS, rel=0.002)


def test_what_began_in_ramp_and_warm_up_does_not_count(row, frame):
    first = [frame(n, late=[500 * MS] * 9, phase=phase) for n, phase in enumerate((Phase.RAMP, Phase.WARM_UP), 1)]
    assert delay(OPEN, *first, frame(3, row([20 * MS]), late=[MS])).n == 1


def test_a_check_and_a_load_that_began_nothing_have_none(row, frame):
    assert delay(OPEN | {"load_kind": "once"}, frame(1, row([20 * MS]), late=[MS])) is None
    assert delay(OPEN, frame(1)) is None
