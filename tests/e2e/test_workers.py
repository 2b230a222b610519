"""Several native workers at one place press one load: exact shares, one set of frames."""

from pathlib import Path

import numpy as np
import pytest

from pileup.record import RunFolder
from tests.manifests import plain
from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: shared
targets: {nothing: {kind: noop}}
tests:
  - {name: one, use: noop, target: nothing}
  - {name: some, use: noop, target: nothing, load: {clients: 2, times: 400}}
  - {name: closed, use: noop, target: nothing, load: {clients: 7, times: 1001}}
  - {name: open, use: noop, target: nothing, load: {rate: 2000, for: 500 ms}}
  - {name: few, use: noop, target: nothing, load: {rate: 2000, clients: 5, for: 500 ms}}
"""
COUNTS = {"one": 1, "some": 400, "closed": 1001, "open": 1000, "few": 1000}
USED = {"one": 1, "some": 2, "closed": 3, "open": 3, "few": 1}


@pytest.mark.long
@pytest.mark.parametrize("fleet", ["workers:3", "processes"])
def test_workers_share_a_load_exactly(tmp_path: Path, fleet: str) -> None:
    places = "" if fleet == "workers:3" else "places: {processes: 2, workers: 3}\n"
    (tmp_path / "suite.yaml").write_text(SUITE + places)
    arguments = ("--fleet", fleet) if not places else ()
    done = pileup("run", "suite.yaml", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = RunFolder.open(run_folder(done))
    rows = folder.operations().arrays("case", "id", "place", "intended")
    for case in plain(folder)["cases"]:
        mine = rows["case"] == case["name"]
        assert mine.sum() == COUNTS[case["name"]]
        frames = [frame for frame in folder.frames() if frame.case == case["id"]]
        assert sum(frame.started for frame in frames) == COUNTS[case["name"]]
        assert {frame.place for frame in frames if frame.started} == set(np.unique(rows["place"][mine]))
        if not places:
            assert case["workers"] == USED[case["name"]]
        if case["name"] in ("open", "few"):
            assert set(np.diff(np.sort(rows["intended"][mine]))) == {500_000}
    assert [place["workers"] for place in plain(folder)["places"]][-1] == 3
