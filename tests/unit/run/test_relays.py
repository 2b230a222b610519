"""What users must know of a target behind a relay."""

from pathlib import Path

import pytest

from pileup.run.relays.relays import added, remark
from pileup.suite import load

SUITE = """
pileup: 1
title: behind a relay
targets:
  se: {kind: practice-storage, launch: {}, path: PATH}
MORE
tests: [{name: read, use: storage.read, target: se, options: {files: 1, size: 1 B}}]
"""


@pytest.mark.parametrize(
    ("path", "more", "shown"),
    [
        ("{latency: 40 ms}", "", "a relay that adds 40 ms to a round trip;"),
        ("{latency: 0 s}", "scan: {se.path.latency: [0 s, 100 ms]}", "adds 0 s to 100 ms, by point, to a round trip;"),
        (
            "{by_place: [{latency: 5 ms}, {latency: 90 ms}]}",
            "places: {processes: 2}\nscan: {places: [[1], [2]]}",
            "adds 5 ms to 90 ms, by place, to a round trip;",
        ),
        ("{at: 127.0.0.1:4000}", "", "reached through relay 127.0.0.1:4000;"),
    ],
)
def test_a_remark_names_what_the_relay_adds_over_all_points(tmp_path: Path, path: str, more: str, shown: str) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE.replace("PATH", path).replace("MORE", more))
    plan = load(tmp_path / "suite.yaml")
    trips = {trip for case in plan.cases for _, trip in added(case, plan.suite)}
    distance = plan.suite.targets["se"].path
    assert distance is not None
    assert shown in remark(distance, trips)
