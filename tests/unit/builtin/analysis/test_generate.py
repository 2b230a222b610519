"""Data sets generated in place."""

import json

import pytest
import uproot

from pileup.builtin.analysis import models
from pileup.builtin.analysis.data_set import DataSet
from pileup.builtin.analysis.generate import AnalysisGenerate
from pileup.builtin.analysis.models import EVENT, WIDE, Model
from pileup.builtin.posix.target import PosixTarget
from pileup.plugin import Refused
from pileup.plugin.testing import run_once
from pileup.run.safety.boundary import Inside
from pileup.run.safety.guarded_target import guarded
from tests.unit.builtin.analysis.conftest import context, generate


def test_a_file_has_the_columns_and_clusters_of_its_description(made):
    described = DataSet.model_validate_json((made / "set" / "dataset.json").read_bytes())
    assert (described.events, [file.number for file in described.files]) == (100, [0, 1])
    assert [file.clusters for file in described.files] == [[0, 20, 40, 50]] * 2
    assert sum(described.truth["tracks"].counts) == 100
    tracks = described.truth["values"].counts[list(EVENT.columns).index("Track_px")]
    assert sum(described.truth["px"].counts) == tracks
    for file in described.files:
        with uproot.open(made / "set" / file.name) as opened:
            assert set(EVENT.columns) <= set(opened["events"].keys())
            assert opened["events"].num_entries == 50


def test_members_exceed_their_middle_in_half_of_all_cases(made):
    truth = json.loads((made / "set" / "dataset.json").read_text())["truth"]
    shares = [above / values for above, values in zip(truth["above"]["counts"], truth["values"]["counts"], strict=True)]
    assert all(0.3 < share < 0.7 for share in shares)


def test_its_description_is_kept_with_the_case(tmp_path):
    (done,) = generate(tmp_path, files=1)
    assert done.artefacts["dataset.json"] == (tmp_path / "set" / "dataset.json").read_bytes()


def test_the_same_seed_gives_the_same_events_and_another_others():
    same, again, other = (EVENT.draw(seed, 10) for seed in ((1, 2, 3), (1, 2, 3), (1, 2, 4)))
    assert (same.members["Track_px"] == again.members["Track_px"]).all()
    assert same.counts["Track"].tolist() != other.counts["Track"].tolist()


def test_a_file_that_is_there_is_taken_over_or_refused(tmp_path):
    (first,) = generate(tmp_path, files=1)
    assert [operation.name for operation in first.operations] == ["generate"]
    (again,) = generate(tmp_path, files=1)
    assert (again.passed, [operation.name for operation in again.operations]) == (True, ["reuse"])
    (other,) = generate(tmp_path, files=1, codec="none")
    assert "exists, and is not what this run would write; expected a folder without it" in other.error
    path = next((tmp_path / "set").glob("*.root"))
    path.write_bytes(path.read_bytes()[:-1])
    (changed,) = generate(tmp_path, files=1)
    assert not changed.passed, "somebody has changed it"


def test_a_file_that_cannot_be_finished_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("pileup.builtin.analysis.writing.fill_drawn", lambda *_: 1 / 0)
    (broken,) = generate(tmp_path, files=1)
    assert "ZeroDivisionError" in broken.error
    assert not list((tmp_path / "set").glob("*.root"))


def test_nothing_is_made_outside_of_where_the_run_may_write(tmp_path):
    (tmp_path / "link").symlink_to("/")
    (tmp_path / "ours").mkdir()
    target = PosixTarget(str(tmp_path))
    limited = guarded(target, Inside(target.url, str(tmp_path / "ours"), local=True), made=None)
    for folder in ("/other", "/other/deep", "/", "/link/tmp"):
        with pytest.raises(Refused):
            run_once(AnalysisGenerate, limited, context=context(tmp_path / "ours"), folder=folder, events=10)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "ours"]
    assert run_once(AnalysisGenerate, limited, context=context(tmp_path / "ours"), folder="/ours/a/b", events=10).passed
    with pytest.raises(Refused, match="link"):
        run_once(AnalysisGenerate, target, context=context(tmp_path / "ours"), folder="/link/tmp", events=10)


def test_an_event_has_the_size_that_its_model_says():
    assert len(EVENT.collections[0].members) == 20
    assert len(WIDE.columns) == 3060
    share = len(WIDE.optimised) / len(WIDE.columns)
    assert share == pytest.approx(0.2)
    drawn = EVENT.draw((1,), 100)
    assert drawn.counts["Track"].mean() == pytest.approx(600, rel=0.05)


@pytest.mark.parametrize("storage", ["ttree", "rntuple"])
def test_many_collections_have_a_counter_each(tmp_path, monkeypatch, storage):
    small = Model("wide", WIDE.collections[:2], WIDE.optimised[:10], WIDE.specs)
    monkeypatch.setitem(models.MODELS, "wide", small)
    (done,) = generate(tmp_path, files=1, model="wide", storage=storage)
    assert done.passed, done.error
    with uproot.open(next((tmp_path / "set").glob("*.root"))) as opened:
        read = opened["events"].arrays(["nC00", "C01_m49"])
        assert read["nC00"].to_list() != [len(each) for each in read["C01_m49"]]
