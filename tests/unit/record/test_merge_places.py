"""Runs from different places as one record: an axis of places, what may differ, and what does not belong together."""

from dataclasses import replace

import pytest

from pileup.cli.app import run_app
from pileup.cli.verify import findings
from pileup.model.errors import RecordError
from pileup.model.manifest import Host
from pileup.record import RunFolder
from pileup.record.merge import merge
from pileup.record.merge_places import AsPlaces, targets_of
from pileup.run.finish import finish
from pileup.stats import results
from tests.manifests import plain
from tests.unit.stats import scans

MS = 10**6
AXES = {"options.target": ["cern", "asgc", "fnal"]}
TIMES = {"geneva": (10, 50, 30), "taipei": (50, 10, 110), "chicago": (30, 70, 10)}
"""ms: 10 and the distance; taipei to fnal is slow."""
TEXT = "pileup: 1\ntitle: scan\n"


def made(tmp_path, name, axes=AXES, text=TEXT, *, values=None, clock=1_000_000, **fields):
    """A run of a place, converted, with a case that is done once for all points."""
    folder = scans.scan(
        tmp_path / name,
        lambda point, repeat: TIMES[name][list(AXES["options.target"]).index(point["options.target"])] * MS,
        2,
        axes,
        suite={"text": text, "digest": name, "values": values or {}},
        repeat=2,
        targets=[{"name": "cern", "url": f"http://{name}.example"}],
        **fields,
    )
    run = folder.manifest()
    cases = [replace(case, target=case.point["options.target"]) for case in run.cases]
    folder.save(replace(run, cases=tuple(cases), hosts=(Host(f"{name}.example", clock_error=clock),)))
    folder.event("case", "ends", case=1, state="ended", outcome="passed")
    folder.convert()
    return RunFolder.open(folder.path)


@pytest.fixture
def merged(tmp_path):
    sources = [made(tmp_path, "geneva"), made(tmp_path, "taipei"), made(tmp_path, "chicago", clock=None)]
    folder, run = merge(sources, tmp_path / "out", AsPlaces(tuple(TIMES)))
    finish(folder, run)
    return RunFolder.open(folder.path)


@pytest.mark.long
def test_runs_become_an_axis_of_places(merged):
    info = plain(merged)
    assert info["scan"] == {"place": list(TIMES), **AXES}
    assert len(info["points"]) == 9
    assert info["repeat"] == 2
    names = [case["name"] for case in info["cases"]]
    assert names[0] == "copy[place=geneva,options.target=cern]#1"
    assert len(set(names)) == 18
    assert [place["name"] for place in info["places"]] == [f"{name}: local" for name in TIMES]
    assert list(findings(merged)) == []
    rows = merged.operations().arrays("id", "case", "case_id")
    known = {case["id"]: case["name"] for case in info["cases"]}
    assert all(known[number] == name for number, name in zip(rows["case_id"], rows["case"], strict=True))
    assert len(set(rows["id"].tolist())) == 18 * scans.N


@pytest.mark.long
def test_they_are_compared_as_places_with_their_clocks(merged):
    found = results(merged)
    (matrix,) = found.matrices
    assert (matrix.places, matrix.targets) == (tuple(TIMES), tuple(AXES["options.target"]))
    medians = {(each.place, each.target): each.median.value for each in matrix.cells}
    assert medians["taipei", "fnal"] == pytest.approx(110 * MS, rel=0.01)
    clocks = "geneva within 1 ms, taipei within 1 ms, chicago by nothing that is known"
    assert f"The clocks of the places are kept right: {clocks}." in found.notes
    assert [each.clock_error for each in found.run.merged] == [1_000_000, 1_000_000, None]
    assert found.run.targets[0].remarks == (
        "from taipei it is http://taipei.example",
        "from chicago it is http://chicago.example",
    )
    p50 = next(each for each in found.comparisons if each.metric == "p50")
    assert [each.axis for each in p50.effects] == ["place"] * 3 + ["options.target"] * 3


def test_what_is_said_of_a_target_at_one_place_names_the_place(tmp_path):
    runs = [made(tmp_path, name).manifest() for name in ("geneva", "taipei")]
    said = (("shared", "5 ms away"), ("shared", "40 ms away"))
    runs = [
        replace(run, targets=(replace(run.targets[0], url="http://one.example", remarks=texts),))
        for run, texts in zip(runs, said, strict=True)
    ]
    (target,) = targets_of(runs, ("geneva", "taipei"))
    assert target.remarks == ("shared", "from geneva: 5 ms away", "from taipei: 40 ms away")


def test_settings_of_a_place_may_differ_and_others_when_they_are_named(tmp_path):
    one = made(tmp_path, "geneva", values={"targets.cern.url": "a", "clients": "4"})
    two = made(tmp_path, "taipei", values={"targets.cern.url": "b", "places": "local", "clients": "8"})
    names = ("geneva", "taipei")
    with pytest.raises(RecordError, match=r"clients is 8 in .* and 4 in"):
        merge([one, two], tmp_path / "out", AsPlaces(names))
    assert not (tmp_path / "out").exists()
    merge([one, two], tmp_path / "out", AsPlaces(names, ("cli*",)))


@pytest.mark.long
def test_what_does_not_belong_together_is_refused_with_the_reason(tmp_path, merged):
    one = made(tmp_path / "again", "geneva")
    for other, names, words in (
        (made(tmp_path / "suite", "taipei", text=f"{TEXT}about: x\n"), "a,b", "runs of different suites"),
        (made(tmp_path / "axes", "taipei", axes={"options.target": ["cern", "asgc"]}), "a,b", "different points"),
        (merged, "a,b", "has places already"),
        (made(tmp_path / "same", "taipei"), "a,a", "two places are called a"),
        (made(tmp_path / "few", "taipei"), "a", "there are 1 name for 2 runs"),
        (made(tmp_path / "name", "taipei"), "a,b c", "a place is called 'b c'"),
        (made(tmp_path / "open", "taipei", ended=None), "a,b", "has not ended"),
    ):
        with pytest.raises(RecordError, match=words):
            merge([one, other], tmp_path / "not", AsPlaces(tuple(names.split(","))))
    assert not (tmp_path / "not").exists()


@pytest.mark.long
def test_the_command_names_places_by_hosts_or_as_given(tmp_path, capsys):
    runs = [str(made(tmp_path, name).path) for name in ("geneva", "taipei")]
    hosts = ["geneva.example", "taipei.example"]
    for words, names in ((["--places", "hosts"], hosts), (["--places", "g,t"], ["g", "t"])):
        assert run_app(["merge", *runs, *words, "--out", str(tmp_path / "out")]) == 0
        folder = RunFolder.open(capsys.readouterr().out.strip())
        assert plain(folder)["scan"]["place"] == names
    assert run_app(["merge", *runs, "--out", str(tmp_path / "out")]) == 2
    assert "--places NAME,NAME" in capsys.readouterr().err
    assert run_app(["merge", *runs, "--differs", "clients"]) == 2
    assert "--differs without --places" in capsys.readouterr().err
