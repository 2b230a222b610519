"""The engine rdataframe: what ROOT reads is the truth, and what goes wrong in its process is told."""

import re
import subprocess
import sys
import time

import psutil
import pytest

from pileup.builtin.analysis.data_set import DataSet
from pileup.builtin.analysis.engines import Wanted
from pileup.builtin.analysis.histograms import difference, empty, masked
from pileup.builtin.analysis.models import EVENT, MODELS
from pileup.builtin.analysis.query import AnalysisQuery
from pileup.builtin.analysis.rdataframe import RDataFrameEngine
from pileup.builtin.analysis.root.process import RootProcess
from pileup.builtin.analysis.uproot_engine import UprootEngine
from pileup.builtin.analysis.ways import Way, way_of
from pileup.builtin.analysis.writing import expected_of
from pileup.builtin.posix.target import PosixTarget
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import Failed, PluginError
from pileup.plugin.testing import run_once
from tests.unit.builtin.analysis.conftest import context, generate, made

__all__ = ["made"]  # the fixture

FUNCTIONS = """
import time

def px(events):
    return events.Histo1D(("px", "", 128, -8., 8.), "Track_px")

def two(events):
    return {"px": px(events), "plane": events.Histo2D(("", "", 3, 0., 3., 2, 0., 2.), "Track_mass2", "Track_mass")}

def other_axes(events):
    return events.Histo1D(("px", "", 64, -8., 8.), "Track_px")

def raising(events):
    return events.Histo1D(("px", "", 64, -8., 8.), "Track_pt")

def text(events):
    return "px"

def hanging(events):
    while True:
        time.sleep(0.1)

def crashing(events):
    import os
    os.kill(os.getpid(), 11)
"""


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    """A folder with one file that has a TTree; read-only."""
    folder = tmp_path_factory.mktemp("trees")
    assert generate(folder, files=1)[0].passed
    return folder


def data_set(root):
    return DataSet.model_validate_json((root / "set" / "dataset.json").read_bytes())


def wanted(columns=tuple(EVENT.columns), **more):
    return Wanted(EVENT, tuple(columns), **more)


def filled(engine, way, described, events=None):
    """Return the histograms of a query over all files, and how many events that were."""
    found = {} if engine.wanted.function else empty(engine.wanted.model, engine.wanted.columns)
    number = 0
    for file in described.files:
        with engine.opened(way, file, described.recipe.storage == "rntuple") as reader:
            number += sum(reader.fill(*packet, found) for packet in engine.packets(file, events or file.events))
    return found, number


def started(root, way, wanted, **more):
    engine = RDataFrameEngine(wanted, way, root, **more)
    engine.start()
    return engine


@pytest.mark.parametrize("columns", [tuple(EVENT.columns), EVENT.optimised, ("Track_bend",), ()])
def test_it_finds_the_truth_and_what_uproot_finds(root, made, columns):
    way, described = Way(f"{made}/set", f"{made}/set"), data_set(made)
    engine = started(root, way, wanted(columns))
    found, events = filled(engine, way, described)
    assert difference(masked(described.truth, EVENT, columns), found) is None
    assert events == (100 if columns else 0)
    other, _ = filled(UprootEngine(wanted(columns)), way, described)
    assert all((found[name].values(flow=True) == other[name].values(flow=True)).all() for name in found)
    assert set(found) == set(other)


def test_it_reads_the_first_events_alone(root, made):
    way, described = Way(f"{made}/set", f"{made}/set"), data_set(made)
    found, events = filled(started(root, way, wanted()), way, described, 25)
    assert events == 50
    first = masked(expected_of(described.recipe, 0, tuple(EVENT.columns), 25), EVENT, tuple(EVENT.columns))
    second = expected_of(described.recipe, 1, tuple(EVENT.columns), 25)
    assert found["px"].values(flow=True).tolist() == [
        one + other for one, other in zip(first["px"].counts, second["px"].counts, strict=True)
    ]


@pytest.mark.parametrize("storage", ["ttree", "rntuple"])
def test_many_collections_have_a_counter_each(root, tmp_path, monkeypatch, storage):
    whole = MODELS["wide"]
    small = type(whole)("wide", whole.collections[:3], whole.optimised[:10], whole.specs)
    monkeypatch.setitem(MODELS, "wide", small)
    (done,) = generate(tmp_path, files=1, model="wide", storage=storage)
    assert done.passed, done.error
    way, described = Way(f"{tmp_path}/set", ""), data_set(tmp_path)
    found, _ = filled(started(root, way, Wanted(small, tuple(small.columns))), way, described)
    assert difference(described.truth, found) is None


@pytest.mark.parametrize("storage", ["ttree", "rntuple"])
def test_each_read_is_traced(root, tmp_path, storage):
    (done,) = generate(tmp_path, files=1, storage=storage)
    assert done.passed, done.error
    way, described = Way(f"{tmp_path}/set", ""), data_set(tmp_path)
    before = time.time_ns()
    engine = started(root, way, wanted(traced=True))
    used = engine.usage
    filled(engine, way, described)
    used, reads = engine.usage - used, engine.reads()
    assert sum(each.bytes for each in reads) == used.read
    assert len(reads) == used.calls
    assert all(before < each.start <= each.end < time.time_ns() for each in reads)
    assert not engine.reads(), "they are given once"


def test_it_counts_what_it_reads_and_decompresses(root, tmp_path):
    (done,) = generate(tmp_path, files=1, events=400, cluster=100, codec="zstd1")
    assert done.passed, done.error
    way, described = Way(f"{tmp_path}/set", ""), data_set(tmp_path)
    size = described.files[0].bytes
    calls = {}
    for cache in (0, 30_000_000):
        engine = started(root, way, wanted(), cache=cache)
        before = engine.usage
        filled(engine, way, described)
        used = engine.usage - before
        assert size * 0.9 < used.read < size * 1.1
        assert used.decompression > 0
        assert used.cpu > 0
        assert used.asked is None
        calls[cache] = used.calls, used.vectors
    assert calls[0][1] == 0
    assert 0 < calls[30_000_000][1] <= calls[30_000_000][0] < calls[0][0]


def with_function(root, folder, made, name, **more):
    (folder / "mine.py").write_text(FUNCTIONS)
    way, described = Way(f"{made}/set", f"{made}/set"), data_set(made)
    engine = started(root, way, wanted(function=f"./mine.py:{name}", folder=folder, **more))
    return filled(engine, way, described)[0], described


def test_a_function_gets_a_data_frame_and_returns_histograms(root, tmp_path, made):
    found, described = with_function(root, tmp_path, made, "px")
    assert list(found) == ["px"]
    assert difference({"px": described.truth["px"]}, found) is None
    found, _ = with_function(root, tmp_path, made, "two")
    plane = found["plane"]
    assert plane.values().shape == (3, 2)
    assert plane.sum(flow=True) == sum(described.truth["px"].counts)
    masses = plane.project(0).values(flow=True)
    assert masses[:2].tolist() == [0, sum(described.truth["mass2"].counts[1:17])], "16 bins from 0 to 1"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("raising", r"mine.py:raising raised .*Track_pt.* \(mine.py:14\)"),
        ("text", r"mine.py:text returned str; expected a histogram of ROOT"),
        ("nothing", "function './mine.py:nothing': mine.py cannot be imported: AttributeError"),
    ],
)
def test_a_function_that_is_wrong_is_told(root, tmp_path, trees, name, told):
    with pytest.raises(Failed, match=told):
        with_function(root, tmp_path, trees, name)
    assert root.runs, "the process goes on"


def test_a_function_with_other_axes_fails_the_query(root, tmp_path, trees):
    found, described = with_function(root, tmp_path, trees, "other_axes")
    what, expected, _ = difference({"px": described.truth["px"]}, found)
    assert (what, expected) == (
        "the histogram 'px' has an axis of 64 bins from -8 to 8",
        "one of 128 bins from -8 to 8",
    )


@pytest.mark.long
def test_a_function_that_hangs_or_crashes_ends_the_process_alone(tmp_path, trees):
    fresh = RootProcess("", {})
    try:
        with pytest.raises(TimeoutError, match="ROOT gave no answer to 'events' within 2 s"):
            with_function(fresh, tmp_path, trees, "hanging", timeout=2.0)
        assert not fresh.runs
        with pytest.raises(Failed, match=r"ROOT ended with signal 11 during 'events'"):
            with_function(fresh, tmp_path, trees, "crashing")
        assert not fresh.runs
        assert with_function(fresh, tmp_path, trees, "px")[0], "it is started again"
    finally:
        fresh.close()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_that_was_cut_is_an_error_and_no_crash(root, made, tmp_path, share):
    described = data_set(made)
    file = described.files[0]
    whole = (made / "set" / file.name).read_bytes()
    (tmp_path / file.name).write_bytes(whole[: int(len(whole) * share)])
    way = Way(str(tmp_path), str(tmp_path))
    one = described.model_copy(update={"files": [file]})
    with pytest.raises(Failed):
        filled(started(root, way, wanted()), way, one)
    with pytest.raises(Failed, match=r"cannot be read|has no 'events'"):
        filled(UprootEngine(wanted()), way, one)
    assert root.runs


def test_a_missing_root_is_named_with_what_installs_it(tmp_path):
    without = tmp_path / "python"
    without.write_text('#!/bin/sh\nexec /usr/bin/env python3 -S -E -s "$@"\n')
    without.chmod(0o755)
    process = RootProcess(str(without), {})
    with pytest.raises(PluginError, match=r"needs ROOT: .*No module named 'ROOT'; .*pip install 'pileup\[root\]'"):
        process.ask({"do": "prepare"}, 60)
    with pytest.raises(PluginError, match=r"cannot be started: ./no-python: No such file"):
        RootProcess("./no-python", {}).ask({"do": "prepare"}, 60)


def test_https_without_a_plugin_of_root_is_told(root):
    way = Way("https://se.site.org/data", "https://se.site.org/data")
    with pytest.raises(PluginError, match=r"reads no https://: it is built without curl and davix"):
        started(root, way, wanted())


@pytest.mark.long
def test_a_local_file_in_the_place_of_a_remote_one_is_noticed(tmp_path, trees):
    (tmp_path / ".rootrc").write_text("Path.ForceRemote: 0\n")
    url = f"root://127.0.0.1:1/{trees}/set"
    lured = RootProcess("", {"HOME": str(tmp_path)})
    try:
        told = f"ROOT reads the local file {trees}/set/event-7-00000.root in the place of {url}/event-7-00000.root"
        with pytest.raises(Failed, match=re.escape(told)):
            filled(started(lured, Way(url, url), wanted()), Way(url, url), data_set(trees))
    finally:
        lured.close()


def test_it_does_not_read_a_local_file_in_the_place_of_a_remote_one(trees):
    target = XrootdTarget(f"root://127.0.0.1:1/{trees}")
    way = way_of(target, "set")
    fresh = RootProcess("", way.environment())
    try:
        with pytest.raises(Failed, match=r"root://127.0.0.1:1//.*set/event-7-00000.root cannot be opened"):
            filled(started(fresh, way, wanted()), way, data_set(trees))
    finally:
        fresh.close()


def test_a_query_of_a_suite(trees):
    place = context(trees / "suite", own="")
    done = run_once(
        AnalysisQuery, PosixTarget(str(trees)), context=place, folder="set", query="proc", engine="rdataframe"
    )
    assert done.passed, done.error
    assert [operation.name for operation in done.operations] == ["open", "packet"]
    numbers = {sample.metric: sample.value for sample in done.numbers}
    assert numbers["events"] == 50
    assert numbers["start"] > 0
    assert 0 < numbers["cpu_efficiency"] <= 400
    size = data_set(trees).files[0].bytes
    assert size * 0.9 < numbers["read"] < size * 1.1


def test_a_cache_is_for_trees_in_root(made):
    place = context(made / "suite", own="")
    options = {"folder": "set", "cache": 30_000_000}
    with pytest.raises(ValueError, match="uproot has no TTreeCache"):
        run_once(AnalysisQuery, PosixTarget(str(made)), context=place, **options)
    if data_set(made).recipe.storage == "rntuple":
        with pytest.raises(Failed, match="the data set is an RNTuple; expected a TTree"):
            run_once(AnalysisQuery, PosixTarget(str(made)), context=place, engine="rdataframe", **options)


CLIENT = """
import sys
from pileup.builtin.analysis.root.process import RootProcess
process = RootProcess("", {})
process._process = process._start()
print(process._process.pid, flush=True)
process.ask({"do": "prepare"}, 120)
"""


def test_the_process_ends_with_who_has_started_it():
    with subprocess.Popen([sys.executable, "-c", CLIENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
        pid = int(client.stdout.readline())
        time.sleep(1)  # it imports ROOT now, and looks at nothing
        client.kill()
    end = time.monotonic() + 5
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end
        time.sleep(0.02)
