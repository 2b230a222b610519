"""Queries of data sets: every bin of every histogram is that of the truth, or the query fails."""

import json
import re
import shutil

import pytest

from pileup.builtin.analysis.query import AnalysisQuery
from pileup.builtin.posix.target import PosixTarget
from pileup.plugin import Failed
from pileup.plugin.testing import run_once
from tests.unit.builtin.analysis.conftest import context

FUNCTIONS = """
import awkward as ak
import hist

def px(events):
    found = hist.Hist(hist.axis.Regular(128, -8, 8), storage=hist.storage.Int64())
    return {"px": found.fill(ak.ravel(events["Track_px"]))}

def other_axes(events):
    found = hist.Hist(hist.axis.Regular(64, -8, 8), storage=hist.storage.Int64())
    return {"px": found.fill(ak.ravel(events["Track_px"]))}

def changing(events):
    return hist.Hist(hist.axis.Regular(len(events), 0, 1))

def fewer(events):
    return px(events[1:])

def raising(events):
    return events["Track_pt"]

def text(events):
    return {"px": "1"}

def own(events):
    return hist.Hist(hist.axis.Regular(3, 0, 1), name="mine").fill([0.5])
"""


def query(root, **options):
    place = context(root / "suite", own="")
    return run_once(AnalysisQuery, PosixTarget(str(root)), context=place, **{"folder": "set", **options})


def with_function(root, name):
    (root / "suite" / "mine.py").write_text(FUNCTIONS)
    return query(root, function=f"./mine.py:{name}")


@pytest.mark.parametrize(
    ("options", "operations", "events"),
    [
        ({"query": "noproc"}, ["open"] * 2, 0),
        ({"query": "procopt"}, ["open", "packet", "packet", "packet"] * 2, 100),
        ({"query": "proc"}, ["open", "packet", "packet", "packet"] * 2, 100),
        ({"query": "proc", "branches": "10 %"}, ["open", "packet", "packet", "packet"] * 2, 100),
        ({"query": "procopt", "events": 25}, ["open", "packet", "packet"] * 2, 50),
    ],
)
def test_queries_find_the_truth(made, options, operations, events):
    done = query(made, **options)
    assert done.passed, done.error
    assert [operation.name for operation in done.operations] == operations
    assert [sample.value for sample in done.numbers if sample.metric == "events"] == [events]
    assert all(operation.bytes > 0 for operation in done.operations if operation.name == "packet")


def test_it_reports_what_it_has_used(made):
    done = query(made, query="proc")
    numbers = {sample.metric: sample.value for sample in done.numbers}
    assert set(numbers) == {
        *("asked", "read", "reads", "vector_reads", "cpu", "wall", "cpu_efficiency", "events", "query_seconds"),
    }
    moved = sum(operation.bytes for operation in done.operations)
    calls = sum(operation.calls for operation in done.operations)
    assert (numbers["read"], numbers["reads"]) == (moved, calls)
    assert 0 < numbers["asked"] <= numbers["read"], "gaps are read, too"
    assert numbers["cpu_efficiency"] == pytest.approx(100 * numbers["cpu"] / numbers["wall"])


def test_traced_reads_have_the_bytes_of_what_they_are_for(made):
    def moved(**options):
        done = query(made, query="proc", **options)
        assert done.passed, done.error
        return {name: [each for each in done.operations if each.name == name] for name in ("open", "packet", "read")}

    plain, traced = moved(), moved(trace="workers")
    assert not plain["read"]
    whole = [*plain["open"], *plain["packet"]]
    assert sum(each.bytes for each in traced["read"]) == sum(each.bytes for each in whole)
    assert sum(each.calls for each in traced["read"]) == sum(each.calls for each in whole)
    assert not any(each.bytes for name in ("open", "packet") for each in traced[name])


def test_procopt_asks_for_about_a_fifth_of_the_bytes(made):
    def asked(**options):
        return sum(each.bytes for each in query(made, **options).operations if each.name == "packet")

    assert 0.1 < asked(query="procopt") / asked(query="proc") < 0.4


def changed(made, tmp_path, change):
    root = tmp_path / "copy"
    shutil.copytree(made, root)
    path = root / "set" / "dataset.json"
    described = json.loads(path.read_text())
    change(described)
    path.write_text(json.dumps(described))
    return root


def test_a_bin_that_differs_is_named_with_its_histogram(made, tmp_path):
    def change(described):
        described["truth"]["px"]["counts"][65] += 1

    done = query(changed(made, tmp_path, change))
    assert not done.passed
    assert re.search(r"the histogram 'px' has \d+ in bin 64 \(0 to 0.125\); expected \d+, as the truth", done.error)


def test_a_column_that_lost_its_values_is_seen(made, tmp_path):
    def change(described):
        described["truth"]["above"]["counts"][-1] += 1

    assert "the histogram 'above'" in query(changed(made, tmp_path, change), query="proc").error
    assert query(changed(made, tmp_path / "b", change)).passed, "procopt does not read that column"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("other_axes", "'px' has an axis of 64 bins from -8 to 8; expected one of 128 bins from -8 to 8"),
        ("changing", "returned the histogram 'histogram' with 10 bins from 0 to 1, and before with 20 bins"),
        ("fewer", "the histogram 'px' has"),
        ("raising", "Track_pt"),
        ("text", "mine.py:text returned dict of str; expected a hist.Hist"),
    ],
)
def test_a_function_that_is_wrong_fails_the_query(made, name, told):
    done = with_function(made, name)
    assert not done.passed
    assert told in done.error


def test_a_function_gets_the_columns_and_its_histograms_are_compared(made):
    assert with_function(made, "px").passed
    assert with_function(made, "own").passed, "nothing is known of it"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"function": "./none.py:f"}, "there is no file .*none.py; expected a Python file beside the suite"),
        ({"function": "./mine.py:nothing"}, "mine.py has no function 'nothing'; expected one of changing, fewer"),
        ({"query": "noproc", "events": 1}, "noproc reads no events"),
    ],
)
def test_options_that_cannot_be_are_refused(made, options, told):
    (made / "suite" / "mine.py").write_text(FUNCTIONS)
    with pytest.raises(ValueError, match=told):
        query(made, **options)


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut, r"event-7-00001.root is truncated: it has \d+ bytes; expected \d+, as the data set says \(generate it"),
        (flip, r"event-7-00001.root has changed: its sha256 is .*; expected .*generate it again"),
        (lambda path: path.unlink(), r"event-7-00001.root of the data set is missing; expected a file of \d+ bytes"),
    ],
)
def test_a_file_that_is_not_as_described_is_named_before_the_query(made, tmp_path, damage, told):
    root = tmp_path / "copy"
    shutil.copytree(made, root)
    damage(root / "set" / "event-7-00001.root")
    with pytest.raises(Failed, match=told):
        query(root)


def test_a_description_that_is_none_is_told(made, tmp_path):
    with pytest.raises(Failed, match=r"there is no data set .*elsewhere/dataset.json; .*run analysis.generate first"):
        query(made, folder="elsewhere")
    with pytest.raises(Failed, match=r"not the description of a data set: files: .*; expected what analysis.generate"):
        query(changed(made, tmp_path, lambda described: described.update(files=[])))
    (tmp_path / "copy" / "set" / "dataset.json").write_text("{")
    with pytest.raises(Failed, match="not the description of a data set: the file: Invalid JSON"):
        query(tmp_path / "copy")
