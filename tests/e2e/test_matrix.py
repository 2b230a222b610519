"""The example of places against storages, in small: what is hidden in it is found by name."""

import json
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.support import pileup, run_folder

SMALL = (
    "near=2 ms",
    "away=5 ms",
    "far=12 ms",
    "warm_up=50 ms",
    "length=600 ms",
    "repeats=2",
    "long=600 ms",
    "rare=8 %",
)


@pytest.mark.long
def test_what_is_hidden_in_the_matrix_is_found(tmp_path: Path) -> None:
    words = [word for value in SMALL for word in ("--set", value)]
    done = pileup("run", "suite:matrix", "--quiet", *words, cwd=tmp_path, drawn=True)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = RunFolder.open(tmp_path / run_folder(done))
    results = json.loads((folder.path / "results.json").read_text())
    (matrix,) = results["matrices"]
    assert (matrix["test"], matrix["model"]) == ("read", "distance")
    cells = {(each["place"], each["target"]): each for each in matrix["cells"]}
    assert len(cells) == 9
    assert cells["taipei", "fnal"]["slow"]
    assert cells["chicago", "cern"]["scattered"]
    assert cells["chicago", "cern"]["largest"] > 300e6
    assert cells["geneva", "asgc"]["round_trip"] == 12_000_000
    assert [each["target"] for each in matrix["servers"]] == ["cern", "asgc", "fnal"]
    places = {case.point["place"]: case.point["places"] for case in folder.manifest().cases}
    assert places == {"geneva": "[1]", "taipei": "[2]", "chicago": "[3]"}
    shown = " ".join(pileup("show", str(folder.path), cwd=tmp_path).stdout.split())
    assert "read: places against targets" in shown
    page = (folder.path / "report.html").read_text()
    for chart in ("cells0", "distance0"):
        assert f'id="chart-{chart}"' in page
    assert "taipei to fnal: slow" in page


@pytest.mark.timed
@pytest.mark.idle
def test_the_whole_matrix_has_the_medians_of_its_truth(tmp_path: Path) -> None:
    done = pileup("run", "suite:matrix", "--quiet", "--set", "repeats=3", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    (matrix,) = results["matrices"]
    flagged = {(each["place"], each["target"]) for each in matrix["cells"] if each["slow"] or each["scattered"]}
    assert flagged == {("taipei", "fnal"), ("chicago", "cern")}
    for each in matrix["cells"]:
        served = 20 if each["target"] == "cern" else 10
        slow = 80 * ((each["place"], each["target"]) == ("taipei", "fnal"))
        truth = each["round_trip"] / 1e6 + served + slow + 1  # ms; the 5 % are held by simulation
        assert each["median"]["value"] / 1e6 == pytest.approx(truth, rel=0.1), (each["place"], each["target"])
    assert [each["target"] for each in matrix["servers"] if each["slow"]] == ["cern"]
