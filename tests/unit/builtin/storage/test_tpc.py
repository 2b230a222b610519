"""The test of third-party copies: its steps, what it refuses, and which ends fit together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.storage.tpc import StorageTpc
from pileup.model.errors import SuiteError
from pileup.model.loads.load import Load
from pileup.model.program import Destination, Keys
from pileup.plugin import Context
from pileup.suite import load

OWNS = {"source": "own", "destination": "theirs"}


def made(load: dict[str, Any] | None = None, **options: Any) -> StorageTpc:
    """Return it for a load."""
    told = Load.model_validate(load or {"clients": 2, "for": "1 s"})
    return StorageTpc(context=Context("t", told, 7, own="own", owns=OWNS), **{"files": 5, **options})


def test_a_copy_goes_into_the_own_folder_of_the_destination_and_is_asked_about_there() -> None:
    copy, checksum = made(mode="pull", streams=3, size="1 KiB").program().steps
    there = Destination("destination", Keys("theirs/t-f", 5, 6), pull=True, streams=3)
    assert (copy.verb, copy.destination, copy.new) == ("copy", there, False)
    assert copy.keys == checksum.keys == Keys("own/pileup/f", 5, 6)
    assert (checksum.operation, checksum.verb, checksum.checksum) == ("checksum", "checksum", "adler32")
    assert checksum.destination == there and checksum.content == copy.content
    pushed = made(mode="push", checksum="none").program().steps
    assert [step.destination.pull for step in pushed if step.destination] == [False]


def test_named_files_are_of_unknown_content_and_bytes() -> None:
    named = made(names=["a", "b"], folder="/data")
    copy, checksum = named.program().steps
    assert (copy.keys.names, copy.content, checksum.content) == (("data/a", "data/b"), None, None)
    assert copy.destination is not None and copy.destination.keys.count == 2
    assert named.bounds(3) == (6, None)
    assert made(size="1 KiB").bounds(3) == (6, 3 * 1024)


@pytest.mark.parametrize(
    ("given", "options", "told"),
    [
        ({"clients": 6, "for": "1 s"}, {}, "6 clients copy 5 files"),
        ({"clients": 2, "for": "1 s"}, {"overwrite": False}, "expected `overwrite: true`"),
        ({"times": 6}, {"overwrite": False}, "expected `overwrite: true`"),
    ],
)
def test_copies_over_one_another_are_refused(given: dict[str, Any], options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        made(given, **options)


def test_each_copied_once_need_not_overwrite() -> None:
    assert made({"times": 5}, overwrite=False).program().steps[0].new


SUITE = """pileup: 1
title: t
targets:
  web: {kind: webdav, url: "https://a.invalid/"}
  other: {kind: practice-storage, url: "http://127.0.0.1:1/"}
  root: {kind: xrootd, url: "root://a.invalid//x", options: {client: xrdcp}}
  far: {kind: xrootd, url: "root://b.invalid//x"}
  plain: {kind: xrootd, url: "root://c.invalid//x"}
  disk: {kind: posix, url: /tmp}
  bucket: {kind: s3, url: "s3://b"}
tests:
  - {name: tpc, use: storage.tpc, target: {source: SOURCE, destination: DESTINATION}, options: {MORE}}
"""


def problems(tmp_path: Path, source: str, destination: str, more: str = "") -> str:
    """Return what is wrong with a suite that copies from one to the other."""
    text = SUITE.replace("SOURCE", source).replace("DESTINATION", destination).replace("MORE", more)
    (tmp_path / "s.yaml").write_text(text)
    try:
        load(tmp_path / "s.yaml")
    except SuiteError as wrong:
        return str(wrong)
    return ""


@pytest.mark.parametrize(
    ("source", "destination", "told"),
    [
        ("web", "other", ""),
        ("root", "far", ""),
        ("web", "web", "it would copy to the target itself; expected another one"),
        ("web", "disk", "needs 'tpc', 'disk' of kind 'posix' does not have it"),
        ("bucket", "web", "needs 'tpc', 'bucket' of kind 's3' does not have it"),
        ("web", "far", "a third-party copy over HTTP goes to kind xrootd"),
        ("root", "web", "a third-party copy over root:// goes to kind webdav"),
        ("plain", "far", "the engine has no copy to a second target here"),
    ],
)
def test_ends_that_do_not_fit_are_refused_before_the_run(
    tmp_path: Path, source: str, destination: str, told: str
) -> None:
    assert told in (found := problems(tmp_path, source, destination)) and bool(told) == bool(found), found


def test_xrdcp_does_not_push(tmp_path: Path) -> None:
    assert "`client: xrdcp` lets the destination fetch files" in problems(tmp_path, "root", "far", "mode: push")
