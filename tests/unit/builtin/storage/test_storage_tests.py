"""Storage tests beyond whole files in turn: pieces, copies, names, layers, drawn sizes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.posix.target import PosixTarget
from pileup.builtin.storage.contend import StorageContend
from pileup.builtin.storage.copy import StorageCopy
from pileup.builtin.storage.files import ContentSet
from pileup.builtin.storage.mkdir import StorageMkdir
from pileup.builtin.storage.read import StorageRead
from pileup.builtin.storage.rename import StorageRename
from pileup.builtin.storage.stat import StorageStat
from pileup.builtin.storage.write import StorageWrite
from pileup.model.loads.load import Load
from pileup.model.program import Keys, Program, Step
from pileup.model.sizes import SizeLaw
from pileup.plugin import Context, Failed, Test
from pileup.suite import load
from tests.support import ROOT

SET = Keys("data/f", 20, 6)
CLOSED = Context("t", Load.model_validate({"clients": 4, "for": "1 s"}), 7)


def under(**options: Any) -> dict[str, Any]:
    return {"context": CLOSED, "folder": "data", "files": 20, **options}


def one(test: Test) -> Step:
    (step,) = test.program().steps
    return step


def test_random_reads_take_a_piece_and_keep_the_file_open() -> None:
    step = one(StorageRead(**under(size="1 MiB", length="4 KiB", offset="8 KiB", access="random")))
    assert (step.offset, step.length, step.span, step.pieces, step.fraction) == (8192, 4096, 1 << 20, 0, None)
    assert step.keep


def test_vector_reads_have_pieces_and_sparse_ones_a_fraction() -> None:
    step = one(StorageRead(**under(length="4 KiB", access="vector")))
    assert (step.pieces, step.fraction, step.span) == (16, None, 1 << 20)
    test = StorageRead(**under(length="4 KiB", access="sparse", fraction="10 %", pieces=8))
    assert (one(test).pieces, one(test).fraction) == (8, 0.1)
    assert test.bounds(2) == (2, 2 * (round((1 << 20) * 0.1) + 4096))
    assert StorageRead(**under(length="4 KiB", access="vector", pieces=3)).bounds(2) == (2, 2 * 3 * 4096)


@pytest.mark.parametrize(
    "wrong",
    [
        {"access": "random"},
        {"access": "sparse", "length": "2 MiB"},
        {"access": "random", "length": "1 MiB", "offset": "1 B"},
        {"access": "vector", "length": "256 KiB", "pieces": 5},
    ],
)
def test_pieces_must_fit_into_the_files(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"reads need a `length` of which [15] fit into the `size` of the files"):
        StorageRead(**under(size="1 MiB", verify=False, **wrong))


def test_a_copy_is_verified_by_the_checksum_of_the_storage() -> None:
    copy, checksum = StorageCopy(**under(size="3 MB", buffer="1 MB", read_ahead="2 MB")).program().steps
    assert (copy.operation, copy.verb, copy.keys, copy.buffer, copy.read_ahead) == (
        "copy",
        "read",
        SET,
        10**6,
        2 * 10**6,
    )
    assert (checksum.operation, checksum.verb, checksum.checksum) == ("checksum", "checksum", "adler32")
    assert copy.content == checksum.content == StorageWrite(**under(size="3 MB")).content()
    into = StorageCopy(**under(direction="in", checksum="none"))
    assert one(into).verb == "write"
    assert into.prepare() == StorageWrite(**under()).prepare()
    assert into.cleanup() == StorageWrite(**under()).cleanup()
    assert StorageCopy(**under()).cleanup() is None


def test_a_copy_of_the_whole_set_is_checked_file_by_file() -> None:
    test = StorageCopy(context=Context(load=Load(), seed=7), folder="data", files=20)
    program = test.program()
    assert (program.repeat, [step.repeat for step in program.steps]) == (20, [1, 1])
    assert test.bounds(1) == (40, 20 << 20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "in", "files": 3}, "4 clients copy 3 files in, some the same at once; expected `files: 4`"),
        ({"direction": "in", "names": ["a"], "verify": False}, "would overwrite"),
        ({"names": ["a"]}, "expected `verify: false`"),
    ],
)
def test_copies_that_would_do_harm_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StorageCopy(**under(**options))


def test_files_are_renamed_there_and_back() -> None:
    there, back = StorageRename(**under()).program().steps
    assert (there.keys.name(3), there.to) == ("data/f000003", ".renamed")
    assert (back.keys.name(3), back.to) == ("data/f000003.renamed", "")


def test_folders_are_made_and_removed() -> None:
    test = StorageMkdir(**under())
    make, remove = test.program().steps
    assert (make.verb, remove.verb, make.keys.name(5)) == ("mkdir", "delete", "data/d000005/")
    assert test.bounds(3) == (6, 0)
    cleanup = test.cleanup()
    assert cleanup is not None
    assert cleanup.steps[0].missing_ok


def test_files_are_created_in_as_many_folders_as_wanted() -> None:
    test = StorageContend(**under(folders=3))
    create, delete = test.program().steps
    assert [create.keys.name(number) for number in (0, 4)] == ["data/d000000/f000000", "data/d000001/f000004"]
    assert (create.operation, create.verb, delete.verb) == ("create", "write", "delete")
    made, removed = test.prepare(), test.cleanup()
    assert made is not None
    assert removed is not None
    assert [made.steps[-1].keys.name(number) for number in range(3)] == ["data/d000000", "data/d000001", "data/d000002"]
    assert [step.keys.name(1) for step in removed.steps] == ["data/d000001/f000001", "data/d000001/"]


def test_each_layer_is_its_part_of_the_whole() -> None:
    def verbs(cls: type[Test], layers: str, **options: Any) -> list[str]:
        return [step.verb for step in cls(**under(layers=layers, **options)).program().steps]

    assert verbs(StorageCopy, "all") == ["read", "checksum"]
    assert verbs(StorageCopy, "control") == ["open"]
    assert verbs(StorageCopy, "data") == ["read"]
    assert verbs(StorageCopy, "session") == ["connect"]
    assert verbs(StorageCopy, "noop") == ["noop"]
    empty = one(StorageCopy(**under(layers="control", direction="in")))
    assert (empty.verb, empty.content) == ("write", None)
    assert one(StorageRead(**under(layers="data"))).keep
    assert verbs(StorageMkdir, "control") == ["mkdir", "delete"]
    assert StorageCopy(**under(layers="control")).bounds(5) == (5, 0)
    with pytest.raises(ValueError, match="layer data of a test that moves no bytes"):
        StorageStat(**under(layers="data")).program()


def test_layers_keep_the_names_of_operations_and_their_objects() -> None:
    for layers in ("all", "control", "data", "session", "noop"):
        step = StorageCopy(**under(layers=layers)).program().steps[0]
        assert (step.operation, step.keys) == ("copy", SET)


def test_drawn_sizes_are_those_of_the_law() -> None:
    content = StorageWrite(
        **under(files=2000, size={"mix": [{"size": "1 KiB", "weight": 3}, {"size": "1 MiB"}]})
    ).content()
    sizes = [content.size_of(number) for number in range(2000)]
    assert set(sizes) == {1024, 1 << 20}
    assert 0.2 < sizes.count(1 << 20) / 2000 < 0.3
    law = SizeLaw.model_validate({"lognormal": ["4 MiB", 1.0]})
    middle = sorted(size for _, size in law.shares)[100]
    assert 0.97 < middle / (4 << 20) < 1.03
    assert all(size % 4096 == 0 for _, size in law.shares)
    uniform = SizeLaw.model_validate({"uniform": ["1 MiB", "3 MiB"]})
    assert 1 << 20 <= uniform.smallest < uniform.largest <= 3 << 20


def test_the_bound_on_drawn_bytes_is_near_the_truth_and_never_under_it() -> None:
    test = StorageWrite(**under(files=500, size={"lognormal": ["1 MiB", 0.5]}, batch=500))
    content = test.content()
    truth = sum(content.size_of(number) for number in range(500))
    bound = test.bounds(1)[1]
    assert bound is not None
    assert truth <= bound < 1.3 * truth
    assert StorageWrite(**under(files=1, size={"uniform": ["1 B", "9 B"]}, batch=1)).bounds(1)[1] == 9


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"uniform": ["2 B", "1 B"]}, "from a larger to a smaller size"),
        ({}, "0 kinds of sizes"),
        ({"fixed": "1 B", "uniform": ["1 B", "2 B"]}, "2 kinds of sizes"),
        ({"mix": []}, "at least 1"),
        ("3 s", "expected a size"),
    ],
)
def test_wrong_sizes_are_refused(size: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StorageWrite(**under(size=size))


def test_patterns_are_looked_up_where_the_target_is(tmp_path: Path) -> None:
    (tmp_path / "data/sub.root").mkdir(parents=True)
    for name in ("b.root", "a.root", "c.txt"):
        (tmp_path / "data" / name).touch()
    target = PosixTarget(str(tmp_path))
    test = StorageRead(target, **under(names=["*.root", "c.txt"], verify=False))
    assert test.keys().names == ("data/a.root", "data/b.root", "data/c.txt")
    assert StorageRead(None, **under(names=["*.root"], verify=False)).bounds(3) == (3, None)
    with pytest.raises(Failed, match=r"no file in 'data' matches '\*.gz'"):
        StorageRead(target, **under(names=["*.gz"], verify=False)).program()


def test_names_come_from_a_file_beside_the_suite(tmp_path: Path) -> None:
    context = Context(folder=tmp_path, load=CLOSED.load)
    options = under(context=context, names_from="files.txt", verify=False)
    with pytest.raises(ValueError, match="cannot be read"):
        StorageRead(**options).program()
    (tmp_path / "files.txt").write_text("# none\n\n")
    with pytest.raises(ValueError, match="holds no name"):
        StorageRead(**options).program()
    (tmp_path / "files.txt").write_text("# two files\na.root\n\n  sub/b.root \n")
    assert StorageRead(**options).keys().names == ("data/a.root", "data/sub/b.root")


def test_what_fits_into_the_memory_of_this_machine_is_said() -> None:
    def remarks(url: str, size: str = "13 MiB", cls: type[ContentSet] = StorageRead, **given: Any) -> list[str]:
        direct, kind = given.pop("direct", False), given.pop("kind", "posix")
        target = PosixTarget(url, direct=direct) if "://" not in url else PosixTarget("/x")
        target.url, target.kind = url, kind
        return cls(target, **under(size=size, **given)).remarks()

    assert "the set of 260 MiB fits into the memory of this machine" in remarks("/data")[0]
    assert remarks("root://127.0.0.1:1094//data")
    for silent in (
        remarks("root://se.site.org//data"),
        remarks("/data", direct=True),
        remarks("http://127.0.0.1:8080/", kind="practice-storage"),
        remarks("/data", "1 TiB"),
        remarks("/data", "12 MiB"),
        remarks("/data", cls=StorageWrite),
        remarks("/data", layers="control"),
        remarks("/data", context=Context(load=Load())),
    ):
        assert silent == []


def test_programs_are_plain_data() -> None:
    program = StorageRead(**under(size={"mix": [{"size": "1 KiB"}]}, access="random", length="1 B")).program()
    native = program.to_native()
    assert native["repeat"] == 1
    assert native["steps"][0]["content"] == {"seed": 7, "size": 1024, "sizes": ((1, 1024),), "entropy": 1.0}
    assert isinstance(program, Program)


def test_the_suite_of_the_page_is_valid(tmp_path: Path) -> None:
    page = ROOT / "docs/storage.md"
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    (tmp_path / "suite.yaml").write_text(text)
    plan = load(tmp_path / "suite.yaml")
    verbs = {case.point["read.layers"]: case.test.options["layers"] for case in plan.cases if case.test.name == "read"}
    assert verbs == {name: name for name in ("all", "control", "data", "session", "noop")}
