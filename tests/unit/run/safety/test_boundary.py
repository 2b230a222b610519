"""Where a run may write and delete: every trick of a path, names that were made, and a target that checks each time."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pileup.builtin.posix.target import PosixTarget
from pileup.model.errors import Refused, TargetError
from pileup.model.plan import Case
from pileup.model.program import Keys, Program, Step
from pileup.plugin import FileTarget
from pileup.record import RunFolder
from pileup.run.safety.boundary import Inside, Names
from pileup.run.safety.limits import WriteRules, guarded_elsewhere
from pileup.run.servers.supervisor import Supervisor
from pileup.run.targets.opening import Targets
from pileup.suite import load

SUITE = """
pileup: 1
title: rails
limits: {inside: INSIDE}
targets: {se: {kind: posix, url: HERE}}
tests: [{name: list, use: storage.list, options: {folder: ""}}]
"""
Make = Callable[..., tuple[WriteRules, Targets, Case]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(inside: str = "HERE/pileup", url: str = "HERE") -> tuple[WriteRules, Targets, Case]:
        (tmp_path / "data" / "pileup").mkdir(parents=True, exist_ok=True)
        text = SUITE.replace("INSIDE", inside).replace("url: HERE", f"url: {url}")
        (tmp_path / "suite.yaml").write_text(text.replace("HERE", str(tmp_path / "data")))
        plan = load(tmp_path / "suite.yaml")
        folder = RunFolder.create(tmp_path / "runs", "t", 0)
        targets = Targets(plan, folder, Supervisor(folder))
        targets.open()
        return WriteRules(plan, targets), targets, plan.cases[0]

    return make


@pytest.mark.parametrize(
    "name",
    ["x", "/x", "//x", "a/b", "a..b", "...", "%41", "a%2fb", "ü", "a b", "-", "a;b", "~x"],
)
def test_what_is_inside(name: str) -> None:
    assert Inside("http://se/data/pileup", "/data/pileup/", local=False).problem(name) == ""


@pytest.mark.parametrize(
    "name",
    [
        *("..", "../x", "a/../../x", "a/..", "/../x", "..\\x", "%00"),
        *("%2e%2e/x", "%2E./x", ".%2e/x", "..%2fx", "%252e%252e/x", "a/..%5cx", "%" + "25" * 20 + "2e%2e"),
    ],
)
def test_what_may_lead_out(name: str) -> None:
    assert "may lead out of /data/pileup" in Inside("http://se/data/pileup", "/data/pileup", local=False).problem(name)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://se/data", "x"),
        ("http://se/data", "pileup2/x"),
        ("http://se/data", "pileu"),
        ("http://se", "x/data/pileup"),
        ("http://se/", "?/data/pileup"),
        ("http://se/data/other%2fpileup", "x"),
        ("root://se//other", "x"),
    ],
)
def test_what_is_outside(url: str, name: str) -> None:
    assert ", outside /data/pileup" in Inside(url, "/data/pileup", local=False).problem(name)


@pytest.mark.parametrize(
    "url", ["http://se/data/pileup", "root://se//data/pileup", "https://se/data%2Fpileup", "/data"]
)
def test_the_path_of_the_target_counts(url: str) -> None:
    name = "pileup/x" if url == "/data" else "x"
    assert Inside(url, "/data/pileup", local=False).problem(name) == ""


@pytest.mark.parametrize("inside", ["", "/", "//"])
def test_without_a_limit_all_is_inside(inside: str) -> None:
    assert Inside("http://se/", inside, local=False).problem("../x") == ""


def test_a_destination_outside_is_seen() -> None:
    inside = Inside("http://se/", "/data", local=False)
    step = Step("move", "request", Keys.fixed("data/x"), method="MOVE", headers=(("destination", "http://se/data/y"),))
    assert inside.problem_of_step(step) == ""
    assert inside.problem_of_step(replace(step, headers=(("Destination", "http://se/data/%2e%2e/y"),)))


def test_folders_on_the_way_may_be_made_and_no_others() -> None:
    inside = Inside("http://se/", "/data/pileup", local=False)
    assert inside.problem_of_step(Step("mkdir", "mkdir", Keys(names=("data", "data/pileup", "data/pileup/x")))) == ""
    assert inside.problem_of_step(Step("mkdir", "mkdir", Keys(names=("data", "data/other"))))
    assert inside.problem_of_step(Step("delete", "delete", Keys.fixed("data")))


def test_symbolic_links_are_followed(make: Make, tmp_path: Path) -> None:
    rails, targets, case = make()
    data = tmp_path / "data"
    (data / "elsewhere").mkdir()
    (data / "pileup" / "way").symlink_to(data / "elsewhere")
    (data / "pileup" / "f000002").symlink_to(data / "elsewhere" / "x")
    target = targets.get("se")
    for keys in (Keys("pileup/way/f", 3), Keys("pileup/f", 3), Keys.fixed("pileup/way")):
        with pytest.raises(TargetError, match="by a symbolic link"):
            rails.check(case, target, Program((Step("write", "write", keys),)))
    rails.check(case, target, Program((Step("write", "write", Keys("pileup/g", 3)),)))


def test_a_limit_that_is_a_link_is_the_place_that_it_leads_to(make: Make, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "data" / "pileup")
    rails, targets, case = make(inside=str(tmp_path / "link"), url=str(tmp_path / "link"))
    rails.check(case, targets.get("se"), Program((Step("write", "write", Keys("f", 3)),)))


def test_a_program_that_leaves_is_refused_and_told(make: Make, tmp_path: Path) -> None:
    rails, targets, case = make()
    with pytest.raises(TargetError) as problem:
        rails.check(case, targets.get("se"), Program((Step("write", "write", Keys("f", 3)),)))
    assert str(problem.value) == (
        f"it would write on target se: 'f000000' is {tmp_path}/data/f000000, outside {tmp_path}/data/pileup; "
        f"expected names inside {tmp_path}/data/pileup, the `limits.inside` of the suite"
    )


def test_reading_is_free(make: Make) -> None:
    rails, targets, case = make()
    steps = (Step("read", "read", Keys("f", 3)), Step("list", "list"), Step("get", "request", Keys.fixed("../x")))
    rails.check(case, targets.get("se"), Program(steps))


def test_only_what_was_made_is_deleted(make: Make) -> None:
    rails, targets, case = make()
    target = targets.get("se")
    delete = Program((Step("delete", "delete", Keys("pileup/f", 4)),))
    with pytest.raises(TargetError, match="would delete 'pileup/f000000' on target se, which this run has not made"):
        rails.check(case, target, delete)
    rails.check(case, target, Program((Step("write", "write", Keys("pileup/f", 3)),)))
    with pytest.raises(TargetError, match="would delete 'pileup/f000003'"):
        rails.check(case, target, delete)
    rails.check(case, target, Program((Step("write", "write", Keys("/pileup//f", 4)),)), None, delete)
    rails.check(case, target, delete)


def test_a_python_test_may_say_what_it_removes_after_itself(make: Make) -> None:
    rails, targets, case = make()
    rails.check(case, targets.get("se"), None, None, Program((Step("delete", "delete", Keys("pileup/g", 4)),)))
    with pytest.raises(TargetError, match="outside"):
        rails.check(case, targets.get("se"), None, None, Program((Step("delete", "delete", Keys("g", 4)),)))


def test_what_an_earlier_session_made_may_be_deleted(make: Make) -> None:
    _, targets, case = make()
    remove = Program((Step("delete", "delete", Keys("pileup/f", 3)), Step("delete", "delete", Keys.fixed("pileup/x"))))
    targets._folder.journal("objects", "made", case="list", target="se", cleanup="always", remove=remove.to_native())
    again = WriteRules(targets._plan, targets)
    again.check(case, targets.get("se"), remove)


def test_names_of_sets_and_single_ones() -> None:
    names = Names()
    names.add(Keys("a/f", 12, 2))
    names.add(Keys(names=("a/f12", "b/")))
    assert all(map(names.has, ("a/f00", "/a/f11", "a/f12", "b", "a//f03")))
    assert not any(map(names.has, ("a/f13", "a/f1", "a/f001", "a/f-1", "a/f", "a/f٣٣", "b/c")))
    assert names.missing(Keys("a/f", 13, 2)) is None
    assert names.missing(Keys("a/f", 14, 2)) == "a/f13"
    assert names.missing(Keys("a/f", 10**9, 2)) == "a/f13"


def test_names_in_folders_and_with_suffixes() -> None:
    names = Names()
    names.add(Keys("a/f", 12, 2, folders=3, suffix=".x"))
    names.add(Keys("b/d", 3, 2, suffix="/"))
    assert all(map(names.has, ("a/d000002/f11.x", "b/d02", "b/d01/")))
    assert not any(map(names.has, ("a/d000001/f11.x", "a/d000002/f11", "a/f11.x", "a/d000000/f12.x", "b/d03")))
    assert names.missing(Keys("a/f", 12, 2, folders=3, suffix=".x")) is None
    assert names.missing(Keys("b/d", 3, 2)) is None


def test_a_rename_makes_the_new_name_and_takes_the_old_one(make: Make) -> None:
    rails, targets, case = make()
    target, step = targets.get("se"), Step("rename", "rename", Keys("pileup/f", 4), to=".x")
    with pytest.raises(TargetError, match=r"would delete 'pileup/f000000' .* which this run has not made"):
        rails.check(case, target, Program((step,)))
    back = Step("rename", "rename", Keys("pileup/f", 4, suffix=".x"))
    rails.check(case, target, Program((Step("write", "write", Keys("pileup/f", 4)),)))
    rails.check(case, target, Program((step, back)))
    out = Step("rename", "rename", Keys.fixed("pileup/f000000"), to="/../../x")
    with pytest.raises(TargetError, match="may lead out"):
        rails.check(case, target, Program((out,)))


def test_the_guarded_target_of_python_tests(make: Make, tmp_path: Path) -> None:
    rails, targets, _ = make()
    own = targets.get("se")
    assert own is not None
    target = rails.guarded(own)
    assert isinstance(target, PosixTarget)
    assert rails.guarded(own) is target
    (tmp_path / "data/pileup/theirs").touch()
    target.write("pileup/mine", b"x")
    with pytest.raises(Refused, match="this run has not made it"):
        target.delete("pileup/theirs")
    target.delete("pileup/mine")
    for act in (lambda: target.write("x", b""), lambda: target.mkdir("pileup/../x"), lambda: target.delete("../x")):
        with pytest.raises(Refused, match=r"pileup does not (write|make|delete) this: .*"):
            act()
    assert sorted(path.name for path in (tmp_path / "data").rglob("*")) == ["pileup", "theirs"]
    assert target.url == own.url
    assert [entry.name for entry in target.list("pileup")] == ["theirs"]


def test_a_target_of_another_kind_is_handed_on_as_it_is(make: Make) -> None:
    rails, _, _ = make()
    foreign = PosixTarget("/tmp")
    assert rails.guarded(foreign) is foreign
    assert issubclass(PosixTarget, FileTarget)


def test_at_other_places_the_limit_alone_holds(make: Make, tmp_path: Path) -> None:
    _, targets, _ = make()
    own = targets.get("se")
    assert own is not None
    target = guarded_elsewhere(targets._plan, "se", own)
    assert isinstance(target, FileTarget)
    (tmp_path / "data/pileup/theirs").touch()
    target.delete("pileup/theirs")
    with pytest.raises(Refused, match="pileup does not write this"):
        target.write("x", b"")
