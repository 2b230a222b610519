"""Row A1: on a target that pileup did not start, what needs a launched server falls away, and is reported."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pileup.model.errors import SuiteError
from pileup.model.not_covered import Uncovered, words
from pileup.model.plain_json import to_json
from pileup.model.plan import Plan
from pileup.record.typed_json import read
from pileup.suite import load
from tests.support import EXAMPLES

SUITE = """
pileup: 1
title: t
targets:
  ce: {kind: practice-batch, launch: {}}
tests:
  - {name: submit, use: computing.submit, load: {rate: 1 /s, for: 10 s}}
  - {name: again, use: computing.submit, load: {rate: 1 /s, for: 10 s}}
monitors:
  - {use: process, name: service, target: ce}
  - {use: node}
faults:
  - {name: gone, at: 1 s, do: kill, target: ce, for: 1 s}
  - {at: 2 s, do: pause, target: ce.anything, for: 1 s, during: [again]}
  - {name: told, at: 3 s, do: command, run: "true", during: [again]}
  - {name: mended, at: 4 s, do: command, run: "true", target: ce, during: [again]}
cooldown: {until: "last(service.cpu[of=all]) < 10 %", at_most: 1 min}
criteria: [{id: C, says: x, check: "max(service.cpu[of=all]) < 100 %"}]
"""
URL = {"targets.ce.url": "http://ce.site.org/"}
Make = Callable[..., Plan]


@pytest.fixture
def plan(tmp_path: Path) -> Make:
    """Make the plan of a suite with the built-in plug-ins."""

    def make(text: str, values: dict[str, str] | None = None) -> Plan:
        (tmp_path / "suite.yaml").write_text(text)
        return load(tmp_path / "suite.yaml", values)

    return make


def lacking(plan: Plan) -> dict[str, bool]:
    return {f"{each.what} {each.name}": each.whole for each in plan.uncovered}


def test_a1_all_that_needs_a_launched_server_falls_away(plan: Make) -> None:
    found = plan(SUITE, URL)
    assert lacking(found) == {
        "launch ce": False,
        "monitor service": True,
        "fault gone": True,
        "fault 2": True,
        "fault mended": True,
        "test submit": True,
        "test again": False,
        "cooldown cooldown": True,
    }
    assert words(found.uncovered)[:2] == [
        "Not used: `launch` of ce: a url was set for it: pileup does not start it",
        "Not covered: monitor service: pileup did not start ce; `match` or `program` or `pid` chooses its processes",
    ]
    assert "Not covered: faults gone, 2, mended: pileup did not start ce" in words(found.uncovered)
    assert "Covered in part: test again: 2, mended did not happen in it: pileup did not start ce" in words(
        found.uncovered
    )
    assert [read(Uncovered, to_json(each)) for each in found.uncovered] == list(found.uncovered)


def test_a1_a_launched_server_covers_all(plan: Make) -> None:
    assert plan(SUITE.replace("ce.anything", "ce")).uncovered == ()


def test_a1_a_url_wins_over_launch_settings_in_any_order(plan: Make) -> None:
    for values in ({"targets.ce.launch.slots": "5", **URL}, {**URL, "targets.ce.launch.slots": "5"}):
        target = plan(SUITE, values).suite.targets["ce"]
        assert (target.launch, target.url) == (None, "http://ce.site.org/")


@pytest.mark.parametrize("word", ["match", "program"])
def test_a1_a_monitor_that_is_told_how_to_find_processes_measures(plan: Make, word: str) -> None:
    """They are looked for on this machine; the record says that it is about ce, whose host may be another."""
    found = plan(SUITE, {**URL, f"monitors.service.{word}": "practice"})
    assert "monitor service" not in lacking(found)
    assert "cooldown cooldown" not in lacking(found)
    service = found.suite.monitors[0]
    assert (service.options, service.watches) == ({word: "practice"}, "ce")
    far = plan(SUITE, {**URL, f"monitors.service.{word}": "practice", "monitors.service.host": "ssh://root@ce"})
    assert far.suite.monitors[0].host == "ssh://root@ce"
    launched = plan(SUITE.replace("ce.anything", "ce"), {f"monitors.service.{word}": "practice"})
    assert launched.suite.monitors[0].options["target"] == "ce", "there it is known which they are"


def test_a1_a_load_that_is_steered_by_what_is_not_covered_is_refused(plan: Make) -> None:
    hold = {"metric": '"service.cpu[of=all]"', "at": "50", "band": "10 %", "by": "rate", "between": "[0, 9 /s]"}
    words = ", ".join(f"{name}: {value}" for name, value in hold.items())
    values = {"tests.again.load": f"{{hold: {{{words}}}, for: 10 s}}"}
    assert plan(SUITE.replace("ce.anything", "ce"), values).uncovered == ()
    with pytest.raises(SuiteError, match="the load of test 'again' is steered by a monitor that cannot measure here"):
        plan(SUITE, {**URL, **values})


def test_a1_a_folder_of_the_run_has_no_server(plan: Make) -> None:
    text = SUITE.replace("practice-batch, launch: {}", "posix").replace("computing.submit", "storage.list")
    with pytest.raises(SuiteError, match="pileup did not launch target 'ce' and does not know its processes"):
        plan(text)


@pytest.mark.parametrize(
    ("suite", "url"),
    [
        ("cream-arc", "https://ce.site.org/arex"),
        ("cream-slurm-ci", "unix:/run/slurmrestd.sock"),
        ("cream-slurm-full", "https://ce.site.org:6820"),
        ("cream-acceptance", "http://127.0.0.1:6820"),
        ("cream-acceptance-arc", "https://ce.site.org/arex"),
        ("purge", "http://127.0.0.1:9/"),
        ("hold", "http://127.0.0.1:9/"),
        ("practice-batch", "http://127.0.0.1:9/"),
        ("database", "mariadb://me@db/mine"),
    ],
)
def test_a1_every_suite_of_batch_systems_and_databases_takes_a_url(suite: str, url: str) -> None:
    name = "db" if suite == "database" else next(iter(load(EXAMPLES / f"{suite}.yaml").suite.targets))
    found = load(EXAMPLES / f"{suite}.yaml", {f"targets.{name}.url": url})
    assert found.suite.targets[name].launch is None
    assert Uncovered("launch", name, "a url was set for it: pileup does not start it", False) in found.uncovered


def test_d13_settings_of_a_launch_are_not_covered_by_url() -> None:
    """`tuning` scans the threads of its server: what is there has as many as it has."""
    found = load(EXAMPLES / "tuning.yaml", {"targets.se.url": "http://se.site.org/data"})
    assert Uncovered("setting", "se.threads", "pileup did not start se") in found.uncovered
    assert "Not covered: setting se.threads: pileup did not start se" in words(found.uncovered)
    assert list(found.suite.scan) == ["read.buffer"]
    assert {each.id: (each.coverage, bool(each.at)) for each in found.suite.criteria} == {
        "T1": ("none", False),
        "T2": ("full", False),
    }
    assert found.suite.criteria[0].remark == "se.threads was not set: pileup did not start se"
    launched = load(EXAMPLES / "tuning.yaml")
    assert (list(launched.suite.scan), launched.uncovered) == (["se.threads", "read.buffer"], ())
