"""Answers of Tape REST APIs: those of the standard, what EOS says instead, and what no API should say."""

import json

import pytest

from pileup.builtin.tape.answers import (
    Endpoint,
    endpoint_of,
    localities_of,
    problem_of,
    request_of,
    staged_of,
)
from pileup.model.errors import Failed, TargetError
from pileup.plugin.tape import FileState, StagedFile, Times


def text(value: object) -> bytes:
    return json.dumps(value).encode()


def test_the_endpoint_of_version_1_is_taken() -> None:
    endpoints = [
        {"uri": "https://a/api/v0", "version": "v0", "metadata": {}},
        {"uri": "https://a:3880/api/v1/tape", "version": "v1", "metadata": {"quality-level": "production"}},
    ]
    found = endpoint_of("https://a", text({"sitename": "here", "endpoints": endpoints}))
    assert found == Endpoint("https://a:3880/api/v1/tape", "here", 1)
    endpoints[1]["metadata"] = {"nodes": 40}
    assert endpoint_of("https://a", text({"endpoints": endpoints})).nodes == 40


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html>", "names no endpoints; expected the metadata of a Tape REST API"),
        (text({"endpoints": 3}), "names no endpoints"),
        (text({"endpoints": [{"uri": "https://a", "version": "v0"}]}), "has the versions v0; expected v1"),
        (text({"endpoints": []}), "has the versions none; expected v1"),
    ],
)
def test_other_metadata_are_refused(body: bytes, says: str) -> None:
    with pytest.raises(TargetError, match=says):
        endpoint_of("https://a", body)


def test_an_id_comes_in_the_answer_or_in_the_location() -> None:
    assert request_of(text({"requestId": "a-1"}), "") == "a-1"
    assert request_of(b"", "https://a/api/v1/stage/b-2/") == "b-2"
    for wrong in ("", "a b", "../x"):
        with pytest.raises(Failed, match="expected a `requestId`"):
            request_of(text({"requestId": wrong}), "")


def test_files_have_the_states_of_the_standard_or_are_on_disk() -> None:
    files = [
        {"path": "/a", "state": "STARTED", "startedAt": 5},
        {"path": "/b", "state": "FAILED", "error": "bad"},
        {"path": "/c", "onDisk": True},
        {"path": "/d", "onDisk": False},
        {"path": "/e", "onDisk": False, "error": "no"},
        {"path": "/f", "state": "COMPLETED", "exact": {"handed": 1, "begun": 2, "ended": 3, "drive": 4}},
    ]
    assert staged_of(text({"id": "x", "files": files})) == [
        StagedFile("/a", FileState.STARTED),
        StagedFile("/b", FileState.FAILED, "bad"),
        StagedFile("/c", FileState.COMPLETED),
        StagedFile("/d", FileState.SUBMITTED),
        StagedFile("/e", FileState.FAILED, "no"),
        StagedFile("/f", FileState.COMPLETED, "", Times(1, 2, 3, "d4")),
    ]


@pytest.mark.parametrize(
    "body", [b"", text([]), text({"files": [3]}), text({"files": [{"path": "/a", "state": "GONE"}]})]
)
def test_an_answer_that_is_none_fails(body: bytes) -> None:
    with pytest.raises(Failed, match=r"; expected .* \(see the server\)"):
        staged_of(body)


def test_localities_and_problems_are_read() -> None:
    infos = [{"path": "/a", "locality": "TAPE"}, {"path": "/b", "error": "no such file"}, {"path": "/c"}]
    assert localities_of(text(infos)) == {"/a": "TAPE", "/b": "no such file", "/c": "UNKNOWN"}
    with pytest.raises(Failed, match="is no list of paths"):
        localities_of(text({"a": 1}))
    assert problem_of(text({"status": 404, "title": "Not found", "detail": "no x"})) == "Not found: no x"
    assert problem_of(b"<html>") == ""
