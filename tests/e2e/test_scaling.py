"""Scans whose points differ by more than one thing: weak scaling, places, environments, variables."""

import json
from pathlib import Path
from typing import Any

import pytest

from pileup.record import RunFolder
from tests.pages import shown_files
from tests.support import pileup, run_folder

Results = dict[str, Any]


def run(tmp_path: Path, suite: str, *words: str) -> tuple[RunFolder, Results]:
    """Run a suite, by name or as text; return its record and its results."""
    if "\n" in suite:
        (tmp_path / "suite.yaml").write_text(suite)
        suite = "suite.yaml"
    done = pileup("run", suite, "--quiet", *words, cwd=tmp_path, drawn=True)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = RunFolder.open(tmp_path / run_folder(done))
    return folder, json.loads((folder.path / "results.json").read_text())


def compared(results: Results, test: str, metric: str) -> Results:
    (one,) = [
        each
        for each in results["comparisons"]
        if (each["test"], each["operation"], each["metric"]) == (test, "", metric)
    ]
    return dict(one)


@pytest.mark.timed
@pytest.mark.idle
def test_weak_scaling_in_one_suite(tmp_path: Path) -> None:
    small = [word for value in ("length=300 ms", "warm_up=100 ms", "repeats=2") for word in ("--set", value)]
    folder, results = run(tmp_path, "suite:weak-scaling", *small)
    info = folder.manifest()
    sizes = [("4", "32"), ("8", "64"), ("16", "128"), ("32", "256")]
    assert [tuple(point.values()) for point in info.points] == sizes
    assert info.together == (("clients", "files"),)
    reads = [case for case in info.cases if case.test == "read"]
    assert [tuple(case.point.values()) for case in reads] == [*sizes, *reversed(sizes)], "repeats are interleaved"
    assert [case.clients for case in reads[:4]] == [4, 8, 16, 32]
    rate = compared(results, "read", "rate")
    assert rate["repeats"] == ["1", "2"]
    assert [each["difference"]["n"] for each in rate["differences"]] == [2, 2, 2], "pairs"
    means = [each["figure"]["value"] for each in rate["points"]]
    assert means[0] * 1.5 < means[1] * 1.2 < means[2], means
    assert means[3] < 1000, "16 threads of 20 ms give 800 /s"
    assert rate["effects"] == [], "one factor"
    page = (folder.path / "report.html").read_text()
    assert '["4 / 32","8 / 64","16 / 128","32 / 256"]' in page
    assert "clients / files" in page


@pytest.mark.long
def test_a_matrix_of_three_places_and_two_targets(tmp_path: Path) -> None:
    folder, results = run(tmp_path, shown_files()["matrix.yaml"])
    info = folder.manifest()
    numbers = {place.name: place.number for place in info.places}
    assert pressed_from(folder, "read") == {
        (place, target): {numbers[name]}
        for place, name in (("[1]", "process 1"), ("[2]", "process 2"), ("[process 3]", "process 3"))
        for target in ("near", "far")
    }
    medians = compared(results, "read", "p50")
    near, far = ([each["figure"]["value"] for each in medians["points"][first::2]] for first in (0, 1))
    assert len(near) == len(far) == 3
    assert max(near) < 15e6, "each place measured each target"
    assert min(far) >= 19.8e6
    sets = [case for case in results["cases"] if case["test"] == "read"]
    assert len({(case["point"]["read.places"], case["point"]["options.target"]) for case in sets}) == len(sets) == 6
    assert all(case["operations"][0]["counts"]["passed"] > 0 for case in sets)
    assert [each["axis"] for each in medians["effects"]] == ["read.places"] * 3 + ["options.target"] * 2
    (criterion,) = results["criteria"]
    assert [each["point"] for each in criterion["points"]] == [
        f"read.places={place}, options.target=near" for place in ("[1]", "[2]", "[process 3]")
    ]
    shown = " ".join(pileup("show", str(folder.path), cwd=tmp_path).stdout.split())
    assert "read.places=[2], options.target=far" in shown


SHARES = """
pileup: 1
title: Shares
variables: {n: ~}
tests:
  - {name: press, use: ./flavour.py:Flavour, load: {clients: 4, times: $n}}
  - {name: alone, use: ./flavour.py:Flavour, places: [2], environment: {set: {FLAVOUR: own}}, load: {times: 1}}
scan:
  together: [{places: 1, n: 4}, {places: 2, n: 8}]
  environment: [one.sh, {set: {FLAVOUR: two}}]
"""
FLAVOUR = '''
import os
from pileup.plugin import Test


class Flavour(Test):
    """Say what the environment is."""

    def run(self, op):
        print("flavour", os.environ.get("FLAVOUR"))
'''


@pytest.mark.long
def test_places_environments_and_variables_change_from_point_to_point(tmp_path: Path) -> None:
    (tmp_path / "flavour.py").write_text(FLAVOUR)
    (tmp_path / "one.sh").write_text("export FLAVOUR=one\n")
    folder, results = run(tmp_path, SHARES, "--fleet", "processes:2")
    cases = {case["name"]: case for case in results["cases"]}
    for places, n in ((1, 4), (2, 8)):
        for name, environment in (("one", "one.sh"), ("two", "{set: {FLAVOUR: two}}")):
            where = f"[places={places},n={n},environment={environment}]"
            press, alone = (cases[test + where] for test in ("press", "alone"))
            assert press["operations"][0]["counts"]["passed"] == n
            printed = [line for line in (folder.path / press["stdout"]).read_text().split("\n") if "flavour" in line]
            assert printed == [f"flavour {name}"] * n
            assert "flavour own" in (folder.path / alone["stdout"]).read_text()
    pressed = pressed_from(folder, "press", "places", "environment")
    assert {(place, len(by)) for (place, _), by in pressed.items()} == {("1", 1), ("2", 2)}


def pressed_from(folder: RunFolder, test: str, *axes: str) -> dict[tuple[str, ...], set[int]]:
    """Return the places that pressed a test at each point, by the values of some axes (none: of all)."""
    cases = {case.id: case for case in folder.manifest().cases if case.test == test}
    found: dict[tuple[str, ...], set[int]] = {}
    for frame in folder.frames():
        if frame.case in cases and any(row.iteration and row.passed for row in frame.rows):
            point = cases[frame.case].point
            found.setdefault(tuple(point[axis] for axis in axes or point), set()).add(frame.place)
    return found


BY_PLACE = """
pileup: 1
title: By place
targets: {disk: {kind: posix}}
places: processes:2
options: {folder: {by_place: [a, b]}, files: 4, size: {by_place: [1 KiB, 2 KiB]}}
tests:
  - {name: fill, use: storage.write, places: [1], load: {times: 4}}
  - {name: fill-2, use: storage.write, places: [2], load: {times: 4}}
  - {name: read, use: storage.read, after: [fill, fill-2], options: {order: random}, load: {clients: 2, times: 20}}
  - {name: flavour, use: ./flavour.py:Flavour, options: {word: {by_place: [one, two]}}, load: {clients: 2, times: 6}}
"""
OF_PLACE = '''
from pileup.plugin import Test, option


class Flavour(Test):
    """Say which word it has."""

    word: str = option(help="a word")

    def run(self, op):
        with op("say", key=self.word):
            pass
'''


@pytest.mark.long
def test_options_differ_from_place_to_place(tmp_path: Path) -> None:
    (tmp_path / "flavour.py").write_text(OF_PLACE)
    (data := tmp_path / "data").mkdir()
    folder, _ = run(tmp_path, BY_PLACE, "--set", f"targets.disk.url={data}")
    assert list(data.iterdir()) == [], "what was made at any place is removed"
    names = {place.number: place.name for place in folder.manifest().places}
    with folder.operations().connect() as connection:
        rows = connection.execute(
            "select distinct test, place, key, bytes from operations where phase = 'measure' and key <> ''"
        ).fetchall()
    for test, places in (("fill", [1]), ("fill-2", [2]), ("read", [1, 2])):
        found = {(names[place], key.split("/")[-2], size) for name, place, key, size in rows if name == test}
        assert found == {(f"process {n}", " ab"[n], 1024 * n) for n in places}, test
    assert {(names[place], key) for test, place, key, _ in rows if test == "flavour"} == {
        *(("process 1", "one"), ("process 2", "two"))
    }


BROKEN_OFF = """
pileup: 1
title: Broken off
variables: {n: ~}
tests:
  - name: say
    use: command
    options: {command: "echo n is $n; echo $n >> said; test $n != 4 || test -e go || kill -KILL $$PPID", shell: true}
scan: {together: [{n: 2, say.contains: n is 2}, {n: 4, say.contains: n is 4}, {n: 8, say.contains: n is 8}]}
repeat: 2
"""


@pytest.mark.long
def test_a_run_that_was_broken_off_goes_on_at_its_point(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(BROKEN_OFF)
    runs = {"PILEUP_RUNS": str(tmp_path / "runs")}
    assert pileup("run", "suite.yaml", "--quiet", cwd=tmp_path, **runs).returncode == -9
    (folder,) = (tmp_path / "runs").iterdir()
    (tmp_path / "go").touch()
    done = pileup("resume", str(folder), "--quiet", cwd=tmp_path, **runs)
    assert done.returncode == 0, done.stdout + done.stderr
    info = RunFolder.open(folder).manifest()
    assert [(case.point["n"], case.point["say.contains"], case.outcome) for case in info.cases] == [
        (n, f"n is {n}", "passed") for n in ("2", "4", "8", "8", "4", "2")
    ]
    assert (tmp_path / "said").read_text().split() == ["2", "4", "4", "8", "8", "4", "2"], "only what was under way"
    assert info.together == (("n", "say.contains"),)
