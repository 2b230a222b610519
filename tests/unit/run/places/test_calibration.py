"""What pileup itself costs: measured at the start, told beside the figures."""

import time

from pileup.fleet.python.capture import routed
from pileup.run.places.calibration import calibrate


def test_both_kinds_are_measured_in_a_bounded_time() -> None:
    begin = time.monotonic()
    with routed():
        found = calibrate()
    assert time.monotonic() - begin < 20
    assert found
    assert set(found) <= {"native", "python"}
    assert all(10 < cost < 10**7 for cost in found.values())
