"""Native tests: the programs that they hand to the engine."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pileup.builtin.http.request_test import HttpRequest
from pileup.builtin.noop.test import Noop
from pileup.builtin.storage.delete import StorageDelete
from pileup.builtin.storage.list import StorageList
from pileup.builtin.storage.read import StorageRead
from pileup.builtin.storage.stat import StorageStat
from pileup.builtin.storage.write import StorageWrite
from pileup.model.loads.load import Load
from pileup.model.program import Content, Expect, Keys, Program, Step
from pileup.plugin import Context, Test

SET = Keys("data/f", 20, 6)
STORAGE = (StorageWrite, StorageRead, StorageStat, StorageDelete)


def once(**options: Any) -> dict[str, Any]:
    return {"context": Context(load=Load(), seed=7), "folder": "data", "files": 20, **options}


def under(load: dict[str, Any], **options: Any) -> dict[str, Any]:
    return once(**options) | {"context": Context(load=Load.model_validate(load), seed=7)}


def test_noop_takes_the_time_it_is_told() -> None:
    assert Noop(cost="3 ms").program() == Program((Step("noop", "noop", cost_ns=3_000_000),))
    assert Noop().bounds(10) == (10, 0)


def test_write_handles_the_whole_set_under_once() -> None:
    content = Content(7, 65536)
    step = Step("write", "write", SET, repeat=20, content=content, buffer=4096, checksum="adler32")
    assert StorageWrite(**once(size="64 KiB", buffer="4 KiB", checksum="adler32")).program() == Program((step,))


@pytest.mark.parametrize("cls", STORAGE)
@pytest.mark.parametrize("load", [{"times": 5}, {"clients": 4, "for": "1 s"}, {"rate": 5, "for": "1 s"}])
def test_one_file_an_iteration_under_any_other_load(cls: type[Test], load: dict[str, Any]) -> None:
    (step,) = cls(**under(load)).program().steps
    assert (step.repeat, step.keys) == (1, SET)
    (step,) = cls(**under(load, batch=3)).program().steps
    assert step.repeat == 3


def test_reading_expects_what_writing_wrote() -> None:
    (written,) = StorageWrite(**once(size="3 MB")).program().steps
    (read,) = StorageRead(**under({"clients": 2, "for": "1 s"}, size="3 MB")).program().steps
    assert (written.keys, written.content) == (read.keys, read.content)
    assert read.verify


def test_reading_a_part_and_in_random_order() -> None:
    (step,) = StorageRead(**once(size="1 MiB", offset="4 KiB", length="8 KiB", order="random")).program().steps
    assert (step.offset, step.length, step.keys.order) == (4096, 8192, "random")


def test_reading_foreign_files_verifies_nothing() -> None:
    test = StorageRead(**once(names=["a.root", "sub/b.root"], verify=False))
    (step,) = test.program().steps
    assert (step.keys, step.repeat) == (Keys(names=("data/a.root", "data/sub/b.root")), 2)
    assert (step.content, step.verify) == (None, False)
    assert test.bounds(10) == (20, None)


def test_stat_of_named_files() -> None:
    (step,) = StorageStat(**under({"times": 2}, names=["a"], size="2 KiB")).program().steps
    assert (step.verb, step.keys, step.repeat) == ("stat", Keys(names=("data/a",)), 1)
    assert step.content == Content(7, 2048)


def test_list_counts_entries() -> None:
    step = Step("list", "list", Keys(names=("data/run1",)), expect=Expect(entries=12))
    assert StorageList(folder="/data/run1/", entries=12).program() == Program((step,))
    assert StorageList(folder="/").program().steps[0].keys == Keys(names=("",))


def test_delete_takes_each_file_once() -> None:
    (step,) = StorageDelete(**once()).program().steps
    assert step == Step("delete", "delete", SET, repeat=20)
    (step,) = StorageDelete(**once(missing_ok=True, order="random")).program().steps
    assert step.missing_ok
    with pytest.raises(ValueError, match="order random would delete some files twice"):
        StorageDelete(**once(order="random"))


def test_write_makes_its_folder_level_by_level() -> None:
    prepared = StorageWrite(folder="/a/./b//c").prepare()
    assert prepared == Program((Step("mkdir", "mkdir", Keys(names=("a", "a/b", "a/b/c")), repeat=3, missing_ok=True),))
    assert StorageWrite(folder="").prepare() is None
    assert StorageWrite(folder="").keys().name(1) == "f000001"


def test_cleaning_up_removes_the_files_of_the_set_and_no_folder() -> None:
    cleanup = StorageWrite(**once(order="random")).cleanup()
    assert cleanup == Program((Step("delete", "delete", SET, repeat=20, missing_ok=True),))
    assert all(cls(**once()).cleanup() is None for cls in STORAGE[1:])


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (StorageWrite(**once(size=100)), (60, 6000)),
        (StorageWrite(**under({"times": 3}, size=100)), (3, 300)),
        (StorageRead(**once(size=100, offset=40)), (60, 3600)),
        (StorageRead(**once(size=100, offset=40, length=10)), (60, 600)),
        (StorageStat(**once()), (60, 0)),
        (StorageDelete(**once(batch=2)), (6, 0)),
        (StorageList(), (3, 0)),
        (HttpRequest(), (3, None)),
        (HttpRequest(method="HEAD"), (3, 0)),
    ],
)
def test_bounds_of_three_iterations(test: Test, expected: tuple[int | None, int | None]) -> None:
    assert test.bounds(3) == expected


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (StorageWrite, {"folder": "a/../../etc"}, "leads out of the target"),
        (StorageWrite, {"files": 0}, "files"),
        (StorageWrite, {"size": "3 s"}, "is a time; expected a size"),
        (StorageWrite, {"size": "10"}, "has no unit"),
        (StorageRead, {"size": 10, "offset": 8, "length": 3}, r"reading up to byte 11 of files of 10 bytes"),
        (StorageRead, {"names": ["a"]}, "expected `verify: false`"),
        (StorageRead, {"names": ["../a"], "verify": False}, None),
        (StorageRead, {"length": 0}, "length"),
        (HttpRequest, {"body": "1 KiB"}, "a body of 1024 bytes with method GET"),
        (HttpRequest, {"method": "PUT", "checksum": "adler32"}, "without a body"),
        (HttpRequest, {"method": "get"}, "method"),
        (HttpRequest, {"statuses": [20]}, "statuses"),
        (HttpRequest, {"headers": {"A": "b\r\nC: d"}}, "line break"),
        (HttpRequest, {"headers": {"A B": "c"}}, "not a name of a header"),
        (HttpRequest, {"path": []}, "empty list"),
    ],
)
def test_wrong_options_are_refused(cls: type[Test], options: dict[str, Any], message: str | None) -> None:
    with pytest.raises((ValidationError, ValueError), match=message or "leads out"):
        cls(**options).program()


def test_request_carries_everything() -> None:
    test = HttpRequest(
        context=Context(seed=7),
        path=["a", "b"],
        method="PUT",
        headers={"X-Site": "DESY"},
        body="1 KiB",
        checksum="adler32",
        statuses=[201, 204],
        contains="ok",
    )
    step = Step(
        "put",
        "request",
        Keys(names=("a", "b")),
        content=Content(7, 1024),
        verify=False,
        checksum="adler32",
        method="PUT",
        headers=(("X-Site", "DESY"),),
        expect=Expect((201, 204), "ok"),
    )
    assert test.program() == Program((step,))


def test_ranged_request() -> None:
    (step,) = HttpRequest(path="big", offset="1 KiB", length="2 KiB").program().steps
    assert (step.operation, step.method, step.content) == ("get", "GET", None)
    assert (step.headers, step.expect.statuses) == ((("Range", "bytes=1024-3071"),), (206,))
    (step,) = HttpRequest(path="big", offset=5, statuses=[200]).program().steps
    assert (step.headers, step.expect.statuses) == ((("Range", "bytes=5-"),), (200,))
