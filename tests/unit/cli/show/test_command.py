"""Results on the screen, at two widths, and as JSON."""

import importlib.util
import io
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from rich.console import Console

from pileup.cli.app import app
from pileup.cli.show.command import print_results
from pileup.model.figures import Figure, Interval
from pileup.model.results import Equivalence, TimeRatio
from pileup.record import RunFolder
from pileup.run.recovery import lock
from pileup.stats import results
from tests.manifests import plain, run_of
from tests.support import ROOT
from tests.unit.builtin.reports import submitted, synthetic

GOLDEN = ROOT / "tests" / "golden" / "0.1"


def shown(found, width):
    stream = io.StringIO()
    print_results(found, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.fixture(scope="module")
def found():
    return results(RunFolder.open(GOLDEN / "ended"))


@pytest.mark.parametrize("width", [80, 120])
def test_everything_fits(found, width):
    text = shown(found, width)
    assert max(map(len, text.splitlines())) <= width
    for word in ("Verdict: failed", "C2", "not met", "9.75 /s", "51 ms", "20 s", "195"):
        assert word in text
    assert "wrong byte at 17 of /data/é" in " ".join(text.split())


def test_what_users_wrote_is_not_taken_as_markup(found, golden_copy):
    info = plain(golden_copy)
    info["cases"][1]["name"] = "copy[red]"
    info["criteria"][0]["says"] = "[bold]x[/nothing]"
    golden_copy.save(run_of(info))
    text = shown(results(golden_copy), 120)
    assert "copy[red]" in text
    assert "[bold]x[/nothing]" in text


@pytest.fixture
def golden_copy(tmp_path):
    spec = importlib.util.spec_from_file_location("golden_make", GOLDEN.parent / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make(tmp_path, "running")


def test_a_run_that_goes_on_is_shown(golden_copy):
    assert "This run goes on, or has crashed" in " ".join(shown(results(golden_copy), 80).split())


def test_an_empty_run_is_shown(tmp_path):
    folder = RunFolder.create(tmp_path, "x", 0)
    folder.save(run_of({"title": "nothing yet"}))
    assert "Verdict: unknown" in shown(results(folder), 80)


@pytest.mark.parametrize("width", [80, 120])
def test_tests_that_must_answer_alike_are_told(found, width):
    ratio = TimeRatio("new", "db.index=on", Figure(3.91, "", Interval(3.7, 4.2), 8))
    alike = (
        Equivalence(("old", "new"), "passed", "", (ratio,)),
        Equivalence(("a", "[b]"), "failed", "answers differ: a: 1; [b]: 2", ()),
    )
    text = shown(replace(found, equivalences=alike), width)
    assert max(map(len, text.splitlines())) <= width
    told = "a, [b]: answers differ: a: 1; [b]: 2"
    for words in ("Equal answers", "old, new", "db.index=on", "3.91 (3.7-4.2)", told):
        assert words in " ".join(text.split())


def test_the_command():
    done = CliRunner().invoke(app, ["show", str(GOLDEN / "ended")])
    assert done.exit_code == 0
    assert "Verdict: failed" in done.stdout
    plain = json.loads(CliRunner().invoke(app, ["show", str(GOLDEN / "ended"), "--json"]).stdout)
    assert plain["folder"] == str(GOLDEN / "ended")
    assert [each["verdict"] for each in plain["criteria"]] == [
        "met, not shown",
        "not met",
        "unknown",
        "met",
        "not covered",
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_the_points_of_a_scan_are_compared(width):
    text = shown(synthetic.scanned(), width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    for word in (
        "copy: rate at each point, 4 repeats",
        "Against the first",
        "larger",
        "smaller",
        "se.threads=64, others",
    ):
        assert word in words
    assert "copy: mean" not in words, "where there is a rate, the mean is left to the report"


@pytest.mark.parametrize("width", [80, 120])
def test_points_of_one_axis_are_named_by_its_values(width):
    run = synthetic.scanned()
    points = tuple(replace(point, values={"options.target": f"a_door_{point.number}"}) for point in run.points)
    lines = shown(replace(run, points=points), width).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("copy: rate at each point"))
    assert lines[begin + 1].startswith("target ")
    assert any(line.startswith("a_door_1 ") for line in lines), "a short name is not broken"
    assert not any(line.startswith("options.target") for line in lines)


def test_points_that_grow_together_are_named_by_all_their_values():
    run = synthetic.scanned()
    points = tuple(
        replace(each, values={"n": str(each.number), "read.size": f"{each.number} GiB"}, together=(("n", "read.size"),))
        for each in run.points
    )
    lines = shown(replace(run, points=points), 100).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("copy: rate at each point"))
    assert lines[begin + 1].startswith("n / size ")
    assert any(line.startswith("3 / 3 GiB ") for line in lines)


def test_one_repeat_says_too_few():
    assert "too few" in shown(synthetic.scanned(repeats=1), 100)


def test_what_was_done_to_the_run_is_told():
    text = shown(synthetic.eventful(), 100)
    assert "10:15:12: se is restarted (TERM)" in text
    assert "too slow for its interval" not in text


def test_of_many_cases_those_that_did_not_pass_come_first():
    many = [synthetic.once(number, f"case-{number}", 0.01 * number) for number in range(1, 2000)]
    many[1500] = synthetic.once(1501, "broken", 15.0, "failed", "no answer")
    text = shown(replace(synthetic.simple(), cases=tuple(many)), 100)
    assert "broken" in text
    assert "and 1,799 more" in text
    assert len(text.splitlines()) < 500


@pytest.mark.parametrize("width", [80, 120])
def test_jobs_and_what_became_of_submissions_are_shown(width):
    text = shown(submitted.submitted(), width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "52,684 1 3 0.0019 %" in words, "cancelled jobs have a column of their own (T20)"
    assert "BLAH error" in words
    assert "and 4 more reasons: see the report" in words
    assert "70 of 90" in words
    assert "submit: 30 lost: job-0, job-1, job-2, job-3, job-4, …" in words
    assert "submit: 2 ghosts: phantom" in words
    assert "only <one> user" in shown(submitted.submitted(), 250)


def test_d13_a_run_that_was_killed_is_told_with_what_to_do(tmp_path):
    folder = RunFolder.create(tmp_path, "t", 0)
    folder.save(run_of({"title": "t", "cases": []}))
    folder.close()
    path = folder.path
    held = lock.take(path)
    try:
        assert "broken off" not in CliRunner().invoke(app, ["show", str(path)]).stderr, "it goes on"
    finally:
        held.release(False)
    said = CliRunner().invoke(app, ["show", str(path)]).stderr
    assert f"`pileup resume {path}` goes on with it, `pileup clean {path}` removes what it has left" in said
    assert "broken off" not in CliRunner().invoke(app, ["show", str(GOLDEN / "ended")]).stderr
