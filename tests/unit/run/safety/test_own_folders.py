"""Where a run works: the folder of its own, folders that a suite names, what is made as new, what is its own again."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.posix.target import PosixTarget
from pileup.model.errors import TargetError
from pileup.model.plan import Plan
from pileup.model.program import Content, Keys, Program, Step
from pileup.plugin import NotThere, Refused, ThereAlready
from pileup.record import RunFolder
from pileup.run.manifest_start import first_manifest
from pileup.run.safety.boundary import Inside, Names, place_inside
from pileup.run.safety.guarded_target import guarded
from pileup.run.safety.kept_sets import describe, found_again
from pileup.run.safety.marker import MARKER
from pileup.run.safety.own_folders import OwnFolders, in_own, is_private, keeps, own_entries, prepared_writes, with_own
from pileup.run.safety.set_contents import existing, made_by, making, ours, remove_folders
from pileup.suite import load

CONTENT = Content(1, 3000)
SET = Keys("here/f", 4)


def write(keys: Keys = SET, content: Content | None = CONTENT, **more: Any) -> Step:
    return Step("write", "write", keys, content=content, **more)


@pytest.fixture
def data(tmp_path: Path) -> PosixTarget:
    (tmp_path / "data").mkdir()
    return PosixTarget(str(tmp_path / "data"))


def planned(tmp_path: Path, text: str = "", load_: str = "once: true") -> tuple[Plan, RunFolder]:
    suite = f"""
pileup: 1
title: grounds
targets: {{se: {{kind: posix, url: {tmp_path}/data}}, mine: {{kind: posix}}}}
{text}
tests: [{{name: fill, use: storage.write, target: se, options: {{files: 4, size: 3000 B}}, load: {{{load_}}}}}]
"""
    (tmp_path / "s.yaml").write_text(suite)
    plan = load(tmp_path / "s.yaml")
    folder = RunFolder.create(tmp_path / "runs", "grounds", 0)
    folder.save(first_manifest(plan, 1))
    return with_own(plan, folder), folder


def test_s1_the_runs_own_folder_has_a_name_that_nobody_knows(tmp_path: Path) -> None:
    names = {planned(tmp_path)[0].own["se"] for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("pileup-2") and len(name) == len("pileup-20261122T101503Z-4f2a91c0") for name in names)
    plan, _ = planned(tmp_path, f"limits: {{inside: {tmp_path}/data/a/b}}")
    assert plan.own["se"].startswith("a/b/pileup-")
    assert "mine" not in plan.own, "a temporary folder is the run's as a whole"
    assert is_private(plan.suite.targets["mine"])


def test_where_inside_is_below_a_url() -> None:
    assert place_inside("root://se//data", "/data/pileup/x/") == "pileup/x"
    assert place_inside("https://se/data/", "/data") == ""
    assert place_inside("https://se/data/x", "/data") == ""
    assert place_inside("https://se/data", "/other") == ""
    assert place_inside("https://se", "/data") == "data"


def test_names_lie_in_the_own_folder_as_a_whole_or_not() -> None:
    assert in_own("p-1", Keys("p-1/f", 3))
    assert in_own("p-1", Keys(names=("p-1", "p-1/x")))
    assert not in_own("p-1", Keys(names=("p-1/x", "y")))
    assert not in_own("p-1", Keys("p-10/f", 3))
    assert not in_own("", Keys("f", 3))


def test_s1_it_is_made_with_a_marker_and_removed_with_all_that_is_in_it(tmp_path: Path, data: PosixTarget) -> None:
    plan, folder = planned(tmp_path)
    own = plan.own["se"]
    grounds = OwnFolders(plan, folder)
    grounds.enter(plan.cases[0], data, Program((write(Keys(f"{own}/pileup/f", 4)),)))
    marker = json.loads((tmp_path / "data" / own / MARKER).read_bytes())
    assert marker["run"] == str(folder.path)
    assert "@" in marker["owner"]
    assert own_entries(folder)["se"].folder == own
    data.mkdir(f"{own}/deep")
    data.write(f"{own}/deep/x", b"x")
    (tmp_path / "outside").write_text("theirs")
    (tmp_path / "data" / own / "link").symlink_to(tmp_path / "outside")
    assert grounds.leave(lambda _: data) == []
    assert list((tmp_path / "data").iterdir()) == []
    assert (tmp_path / "outside").read_text() == "theirs"
    assert own_entries(folder) == {}


def test_s1_what_was_never_written_is_not_looked_for_in_it(tmp_path: Path, data: PosixTarget) -> None:
    plan, folder = planned(tmp_path)
    read = Program((Step("read", "read", Keys(f"{plan.own['se']}/pileup/f", 4)),))
    with pytest.raises(TargetError, match="in the run's own folder on target se, where no test has written"):
        OwnFolders(plan, folder).enter(plan.cases[0], data, read)


def test_s2_another_run_is_kept_out_and_told_who_is_in(tmp_path: Path, data: PosixTarget) -> None:
    (plan, first), (_, second) = planned(tmp_path), planned(tmp_path)
    one, other = OwnFolders(plan, first), OwnFolders(plan, second)
    one.enter(plan.cases[0], data, Program((write(),)))
    with pytest.raises(TargetError, match=f"in use by .*@.* since 20.*: {first.path}; .*pileup clean {first.path}"):
        other.enter(plan.cases[0], data, Program((write(),)))
    OwnFolders(plan, first).enter(plan.cases[0], data, Program((write(),)))  # the same run, resumed
    assert one.leave(lambda _: data) == []
    other.enter(plan.cases[0], data, Program((write(),)))
    assert other.leave(lambda _: data) == []
    assert list((tmp_path / "data").iterdir()) == [], "the folder was made by the run"


def test_s2_a_folder_that_was_made_stays_while_another_run_works_in_it_and_is_told(
    tmp_path: Path, data: PosixTarget
) -> None:
    (plan, first), (_, second) = planned(tmp_path), planned(tmp_path)
    one, other = OwnFolders(plan, first), OwnFolders(plan, second)
    one.enter(plan.cases[0], data, Program((write(Keys("all/one/f", 4)),)))
    other.enter(plan.cases[0], data, Program((write(Keys("all/two/deep/f", 4)),)))
    (told,) = one.leave(lambda _: data)
    assert "files remain in the folder /all/one on target se: /all was made for it" in told
    assert f"/all/two/deep is in use by {json.loads(other.marker)['owner']} since 2" in told
    assert f": {second.path}; `pileup clean {first.path}` tries again" in told
    assert [entry.state for entry in first.journal_entries()] == ["made", "left"]
    assert [path.name for path in (tmp_path / "data/all").iterdir()] == ["two"]
    assert other.leave(lambda _: data) == []
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["all"], "it was not made by the other"
    assert OwnFolders(plan, first).leave(lambda _: data) == []
    assert list((tmp_path / "data").iterdir()) == []


def test_s2_files_of_others_in_a_folder_that_was_made_are_no_other_run(tmp_path: Path, data: PosixTarget) -> None:
    plan, folder = planned(tmp_path)
    grounds = OwnFolders(plan, folder)
    grounds.enter(plan.cases[0], data, Program((write(Keys("all/one/f", 4)),)))
    (tmp_path / "data/all/theirs").mkdir()
    (tmp_path / "data/all/theirs/file").touch()
    assert grounds.leave(lambda _: data) == []
    assert [path.name for path in (tmp_path / "data/all").iterdir()] == ["theirs"]


@pytest.mark.parametrize("theirs", ["f000002", "f000000.new", "d000001/f000001"])
def test_s1_a_name_that_exists_ends_the_set_up(tmp_path: Path, data: PosixTarget, theirs: str) -> None:
    plan, folder = planned(tmp_path)
    (tmp_path / "data/here").mkdir()
    (tmp_path / "data/here" / theirs).parent.mkdir(exist_ok=True)
    (tmp_path / "data/here" / theirs).write_text("theirs")
    steps = {
        "f000002": write(),
        "f000000.new": Step("rename", "rename", SET, to=".new"),
        "d000001/f000001": write(Keys("here/f", 4, folders=2)),
    }
    with pytest.raises(TargetError, match="exists already; this run did not make it"):
        OwnFolders(plan, folder).enter(plan.cases[0], data, Program((steps[theirs],)))
    assert [path.name for path in (tmp_path / "data/here").iterdir()] == [theirs.partition("/")[0]]


@pytest.mark.parametrize(
    ("step", "load_", "new", "first"),
    [
        (write(), "once: true", True, False),
        (write(), "times: 4", True, False),
        (write(), "times: 5", False, True),
        (write(), "clients: 2, for: 1 s", False, True),
        (write(Keys("here/f", 4, order="random")), "times: 2", False, True),
        (Step("rename", "rename", SET, to=".new"), "clients: 2, for: 1 s", True, False),
        (write(Keys("OWN/f", 4)), "clients: 2, for: 1 s", False, False),
    ],
)
def test_s1_names_are_new_or_made_first(tmp_path: Path, step: Step, load_: str, new: bool, first: bool) -> None:
    plan, _ = planned(tmp_path, load_=load_)
    program = Program((step,))
    if step.keys.prefix.startswith("OWN"):
        program = Program((write(Keys(f"{plan.own['se']}/f", 4)),))
    found = prepared_writes(plan, plan.cases[0], program)
    assert found.load is not None
    assert found.load.steps[0].new is new
    assert (found.first is not None) is first
    if found.first is not None:
        assert found.first.steps[0].new
        assert found.first.steps[0].repeat == 4


def test_a_name_that_is_removed_in_the_same_iteration_may_be_new_each_time(tmp_path: Path) -> None:
    plan, _ = planned(tmp_path, load_="clients: 2, for: 1 s")
    found = prepared_writes(plan, plan.cases[0], Program((write(), Step("delete", "delete", SET))))
    assert found.load is not None
    assert (found.load.steps[0].new, found.first) == (True, None)


def test_s1_of_what_is_not_known_only_what_carries_the_runs_content_goes(tmp_path: Path, data: PosixTarget) -> None:
    plan, folder = planned(tmp_path)
    steps = [write(), Step("mkdir", "mkdir", Keys("here/d", 3), repeat=3, missing_ok=True)]
    removal = Program((Step("delete", "delete", SET), Step("delete", "delete", Keys("here/d", 3, suffix="/"))))
    told = {"made": [asdict(step) for step in making(steps)], "remove": removal.to_native()}
    RunFolder(tmp_path).journal("objects", "made", target="se", case="fill", **told)
    (entry,) = RunFolder(tmp_path).journal_entries()
    assert (made_by(entry.made), entry.remove) == (made_by(steps), removal)
    from pileup._core._native import Steps

    made = Steps(json.dumps(Program((write(),)).to_native()), 1)
    here = tmp_path / "data/here"
    here.mkdir()
    (here / "f000000").write_bytes(made.content(0, 0, 0, 3000))
    (here / "f000001").write_bytes(made.content(0, 1, 0, 1234))
    (here / "f000002").write_bytes(made.content(0, 1, 0, 3000))
    (here / "f000003").touch()
    (here / "d000000").mkdir()
    (here / "d000001").mkdir()
    (here / "d000001/theirs").touch()
    found = ours(folder, data, entry)
    assert found.names == ["here/f000000", "here/f000001"]
    assert found.folders == ["here/d000000"]
    assert found.others == ["here/d000001", "here/f000002", "here/f000003"]
    entry = replace(entry, remove=Program((Step("delete", "delete", Keys("here/f", 1)),)))
    assert ours(folder, data, entry).names == ["here/f000000"], "the others are another test's to remove"
    assert remove_folders(data, ["here/d000000", "here/d000001", "here/gone"]).startswith("1 folder could not be")
    assert (here / "d000001/theirs").exists()
    assert plan.own


def test_what_exists_is_found_by_listing(data: PosixTarget, tmp_path: Path) -> None:
    assert existing(data, SET) == {}
    (tmp_path / "data/d000001").mkdir(parents=True)
    (tmp_path / "data/d000001/f000001").write_text("abc")
    (tmp_path / "data/f000001").write_text("abcd")
    assert existing(data, Keys("f", 2)) == {"f000001": 4}
    assert existing(data, Keys("f", 1)) == {}
    assert existing(data, Keys("f", 2, folders=2)) == {"d000001/f000001": 3}
    assert existing(data, Keys(names=("f000001", "d000001/none"))) == {"f000001": 4}


def test_a_set_is_known_again_by_its_description_alone(data: PosixTarget, tmp_path: Path) -> None:
    (made,) = made_by([write()])
    assert found_again(data, made) == ""
    (tmp_path / "data/here").mkdir()
    for number in range(4):
        data.write(f"here/f{number:06d}", bytes(3000))
    assert found_again(data, made) == "", "nothing says that it is ours"
    assert describe(data, [made]) == ""
    assert "is already there, complete and identical: 4 files of" in found_again(data, made)
    (other,) = made_by([write(content=Content(2, 3000))])
    with pytest.raises(TargetError, match=r"is another: 4 files of .*, seed 1"):
        found_again(data, other)
    data.delete("here/f000003")
    with pytest.raises(TargetError, match="is no longer complete"):
        found_again(data, made)


def test_what_is_kept_is_known_from_the_journal(tmp_path: Path) -> None:
    _, folder = planned(tmp_path)
    first = folder.journal("objects", "made", case="a", own=True)
    other = folder.journal("objects", "made", case="b", own=False)
    folder.journal("objects", "kept", of=other, own=False)
    folder.journal("objects", "removed", of=first, own=True)
    assert not keeps(folder)
    folder.journal("objects", "kept", of=folder.journal("objects", "made", case="c", own=True), own=True)
    assert keeps(folder)


def test_s1_python_tests_overwrite_and_remove_nothing_of_others(data: PosixTarget, tmp_path: Path) -> None:
    (tmp_path / "data/theirs").write_text("theirs")
    (tmp_path / "data/folder").mkdir()
    for made in (Names(), None):
        target = guarded(data, Inside(data.url, "", True), made)
        with pytest.raises(Refused, match="exists already; this run did not make it"):
            target.write("theirs", b"mine")
        for content in (b"one", b"two"):
            target.write(f"mine-{made is None}", content)
        with pytest.raises(ThereAlready):
            target.create(f"mine-{made is None}", b"three")
    target = guarded(data, Inside(data.url, "", True), Names())
    target.mkdir("folder")
    with pytest.raises(Refused, match="this run has not made it"):
        target.delete("folder")
    with pytest.raises(Refused, match="not removed with all that is in it"):
        target.remove_tree("folder")
    guarded(data, Inside(data.url, "", True), Names(), private=True).write("theirs", b"on a private one all is ours")
    with pytest.raises(NotThere):
        data.stat("nothing")
