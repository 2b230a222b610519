"""Runs of one suite as one record: every row once, numbers that do not collide, figures of all rows."""

import pytest

from pileup.cli.app import run_app
from pileup.cli.verify import findings
from pileup.model.ending import StoppedBy
from pileup.model.errors import RecordError
from pileup.model.record import ClaimRow, FindingRow, Sample, SampleRow
from pileup.record import RunFolder
from pileup.record.merge import merge
from pileup.run.finish import finish
from pileup.stats import results
from tests.manifests import plain
from tests.unit.stats import scans

MS = 10**6
AXES = {"se.threads": ["4", "16"]}


def made(tmp_path, name, repeats=2, digest="d", **fields):
    """A run of two points and some repeats, converted: medians of 20 and 10 ms, one more failure each repeat."""
    folder = scans.scan(
        tmp_path / name,
        lambda point, repeat: (20 if point["se.threads"] == "4" else 10) * MS + repeat * 1000,
        repeats,
        AXES,
        failed=lambda point, repeat: repeat,
        suite={"text": "", "digest": digest, "values": {}},
        repeat=repeats,
        **fields,
    )
    folder.output("copy[se.threads=4]#1").append("stdout", name, f"from {name}\n")
    folder.event("case", "begins", case=1, state="begins")
    folder.event("case", "ends", case=1, state="ended", outcome="passed", time=scans.START + 7)
    folder.convert()
    return RunFolder.open(folder.path)


@pytest.fixture
def merged(tmp_path):
    sources = [made(tmp_path, "a"), made(tmp_path, "b"), made(tmp_path, "c", repeats=1)]
    folder, info = merge(sources, tmp_path / "out")
    finish(folder, info)
    return RunFolder.open(folder.path), sources


@pytest.mark.long
def test_every_row_stands_once_with_its_case(merged):
    folder, _ = merged
    rows = folder.operations().arrays("id", "case", "case_id", "place")
    assert len(rows["id"]) == len(set(rows["id"].tolist())) == 10 * scans.N
    assert sorted(set(rows["place"].tolist())) == [0, 1, 2]
    names = {case["id"]: case["name"] for case in plain(folder)["cases"]}
    assert all(names[number] == name for number, name in zip(rows["case_id"], rows["case"], strict=True))
    assert list(findings(folder)) == []


@pytest.mark.long
def test_repeats_are_counted_on(merged):
    folder, _ = merged
    info = plain(folder)
    names = [case["name"] for case in info["cases"] if case["point"]["se.threads"] == "16"]
    assert names == [f"copy[se.threads=16]#{number}" for number in (1, 2, 3, 4, 5)]
    assert info["repeat"] == 5
    visits = [case["visit"] for case in info["cases"]]
    assert len(set(visits)) == len(visits) == 10


def test_who_stopped_one_of_them_has_stopped_all(tmp_path):
    stopped = {"stopped": "limit: 3 TiB moved", "stopped_by": "limit"}
    _, run = merge([made(tmp_path, "a", repeats=1), made(tmp_path, "b", repeats=1, **stopped)], tmp_path / "out")
    assert (run.stopped, run.stopped_by) == ("limit: 3 TiB moved", StoppedBy.LIMIT)


@pytest.mark.long
def test_figures_are_those_of_all_rows(merged):
    folder, sources = merged
    found = results(folder)
    parts = [results(source) for source in sources]
    passed = sum(case.iterations.counts.passed for part in parts for case in part.cases)
    assert sum(case.iterations.counts.passed for case in found.cases) == passed
    p50 = next(each for each in found.comparisons if each.metric == "p50")
    assert len(p50.repeats) == 5
    assert p50.differences[0].relative.value == pytest.approx(-0.5, abs=0.01)
    rest = [each for each in found.comparisons if "time_to_idle" in (each.test, each.operation, each.metric)]
    assert [[point.figure.value for point in each.points] for each in rest] == [[1e9, 4e9]]
    assert all(None not in point.repeats for each in rest for point in each.points)


@pytest.mark.long
def test_outputs_events_and_sources_are_kept_apart(merged):
    folder, sources = merged
    texts = folder.outputs()
    assert sorted(text.splitlines()[1] for text in texts.values()) == ["from a", "from b", "from c"]
    ended = [event for event in folder.events() if event.state == "ended"]
    assert [event.case for event in ended] == [1, 5, 9]
    assert {event.time for event in ended} == {scans.START + 7}
    told = plain(folder)["merged"]
    assert [each["folder"] for each in told] == [str(source.path) for source in sources]
    assert [each["cases"] for each in told] == [0, 4, 8]
    assert len(list(folder.samples())) == sum(len(list(source.samples())) for source in sources)


@pytest.mark.long
def test_a_merged_run_is_a_run(merged, tmp_path, capsys):
    folder, sources = merged
    assert run_app(["show", str(folder.path)]) == 0
    assert run_app(["verify", str(folder.path)]) == 0
    assert run_app(["compare", str(folder.path), str(sources[0].path)]) == 0
    assert run_app(["export", str(folder.path), "--to", "csv", "--out", str(tmp_path / "csv")]) == 0
    capsys.readouterr()
    other = made(tmp_path, "d")
    assert run_app(["merge", str(folder.path), str(other.path), "--out", str(tmp_path / "again")]) == 0
    again = RunFolder.open(capsys.readouterr().out.strip())
    assert plain(again)["repeat"] == 7
    assert len(again.operations().arrays("id")["id"]) == 14 * scans.N
    assert list(findings(again)) == []


def audited(tmp_path, name, lost):
    """A run with claims of its first case, of which so many were lost."""
    told = {"number": 0, "target": "se", "fault": -1, "after": "", "load": "", "begin": 1, "end": 2, "gone": 0}
    audits = [{**told, "claims": {"copy": 3}, "looked": 3, "problem": "no answer" if lost > 1 else ""}]
    folder = made(tmp_path, name, audits=audits)
    claims = [ClaimRow(1, 1, "copy", "se", f"{name}-{n}", str(n)) for n in range(3)]
    folder.append_claims(claims)
    folder.append_findings(
        [FindingRow(0, 2, claim, "lost" if int(claim.id) < lost else "ran once") for claim in claims]
    )
    counts = Sample("jobs_lost", lost, "jobs", "visit=0")
    folder.append_samples([SampleRow(scans.START, "copy", "h", counts)])
    folder.close()
    folder.convert()
    return folder


@pytest.mark.long
def test_audits_stand_apart_with_their_claims(tmp_path):
    folder, info = merge([audited(tmp_path, "a", 1), audited(tmp_path, "b", 2)], tmp_path / "out")
    finish(folder, info)
    assert sorted({claim.case for claim in folder.claims()}) == [1, 5]
    first, second = results(folder).audits
    assert [(each.number, each.fates["lost"], each.looked) for each in (first, second)] == [(0, 1, 3), (1, 2, 3)]
    assert results(folder).notes[0] == "What became of the submissions to se is not known: no answer"
    lost = [row.sample for row in folder.samples() if row.sample.metric == "jobs_lost"]
    assert [(sample.value, sample.labels) for sample in lost] == [(1, "visit=0"), (2, "visit=4")]
    assert list(findings(folder)) == []


def test_what_cannot_be_merged_is_refused(tmp_path, capsys):
    one = made(tmp_path, "one")
    for folders, words in (
        ([one, one], "is named twice"),
        ([one, made(tmp_path, "other", digest="e")], "runs of different suites"),
        ([one, made(tmp_path, "open", ended=None)], "has not ended"),
    ):
        with pytest.raises(RecordError, match=words):
            merge(folders, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert run_app(["merge", str(one.path)]) == 2
    assert "two or more runs" in capsys.readouterr().err
