"""What a Tape REST API answers, read with care: it may be any server's."""

from __future__ import annotations

import json
from typing import NamedTuple, TypedDict, cast

from pileup.plugin import Failed, TargetError
from pileup.plugin.tape import FileState, StagedFile, Times

MOST = 300
"""Characters of a text of the server in a message."""


class Told(TypedDict, total=False):
    """What an answer may say. Nothing of it is checked."""

    endpoints: object
    sitename: object
    requestId: object
    files: object
    title: object
    detail: object


STATES = {state.value: state for state in FileState}


class Endpoint(NamedTuple):
    """An API, as the metadata of its site name it."""

    url: str
    site: str
    """Name of the site; empty: it says none."""
    nodes: int
    """Worker nodes that it knows; one where it says nothing of them."""
    opens: bool = False
    """Whether it knows `open` and `close`, which are not in the standard."""


def endpoint_of(url: str, body: bytes) -> Endpoint:
    """Return the API of version 1 that metadata name. Raises TargetError where there is none."""
    found = _object(body)
    endpoints = found.get("endpoints") if found is not None else None
    if found is None or not isinstance(endpoints, list):
        raise TargetError(
            f"{url}: its /.well-known/wlcg-tape-rest-api names no endpoints",
            "the metadata of a Tape REST API",
            "correct the url, or ask its admin",
        )
    known = [each for each in endpoints if isinstance(each, dict) and isinstance(each.get("uri"), str)]
    for each in known:
        if each.get("version") == "v1":
            metadata = each.get("metadata")
            nodes = metadata.get("nodes") if isinstance(metadata, dict) else None
            some = nodes if isinstance(nodes, int) and nodes > 0 else 1
            opens = isinstance(metadata, dict) and metadata.get("open") is True
            return Endpoint(each["uri"], str(found.get("sitename") or ""), some, opens)
    versions = ", ".join(str(each.get("version"))[:20] for each in known) or "none"
    raise TargetError(f"{url}: its Tape REST API has the versions {versions}", "v1", "ask its admin")


def request_of(body: bytes, location: str) -> str:
    """Return the id of a new request: of the answer, or of the address that it gives. Raises Failed."""
    found = _object(body)
    number = (found.get("requestId") if found else None) or location.rstrip("/").rpartition("/")[2]
    if not isinstance(number, str) or not number or any(letter.isspace() or letter in "/?#" for letter in number):
        raise Failed(f"the answer to a stage request has the id {number!r:.100}", "a `requestId`", "see the server")
    return number


def staged_of(body: bytes) -> list[StagedFile]:
    """Return the files of a request. Raises Failed for what is no answer to that."""
    found = _object(body)
    files = found.get("files") if found is not None else None
    if not isinstance(files, list):
        raise Failed("the answer to a poll has no `files`", "a list of the files of the request", "see the server")
    return [_file(each) for each in files]


def localities_of(body: bytes) -> dict[str, str]:
    """Return path -> locality, or what is said against the path. Raises Failed for what is no such answer."""
    found = _json(body)
    if not isinstance(found, list) or not all(isinstance(each, dict) and "path" in each for each in found):
        raise Failed("the answer to archiveinfo is no list of paths", "one", "see the server")
    return {str(each["path"]): str(each.get("locality") or each.get("error") or "UNKNOWN")[:MOST] for each in found}


def problem_of(body: bytes) -> str:
    """Return what a server says against a request (RFC 7807), or the beginning of any other text."""
    found = _object(body)
    if found is None:
        return ""
    title, detail = str(found.get("title") or ""), str(found.get("detail") or "")
    return (f"{title}: {detail}" if title and detail else title or detail)[:MOST]


def _file(told: object) -> StagedFile:
    """Return a file; EOS says whether it is on disk instead of a state."""
    if not isinstance(told, dict) or not isinstance(told.get("path"), str):
        raise Failed(f"a file of a request is {told!r:.100}", "one with a path", "see the server")
    error = str(told.get("error") or "")[:MOST]
    state = told.get("state")
    if state is None:
        known = FileState.COMPLETED if told.get("onDisk") else FileState.FAILED if error else FileState.SUBMITTED
    elif state in STATES:
        known = STATES[state]
    else:
        raise Failed(f"a file has the state {state!r:.100}", f"one of {', '.join(STATES)}", "see the server")
    return StagedFile(told["path"], known, error, _times(told.get("exact")))


def _times(told: object) -> Times | None:
    """Return the times that a practice library knows, where it was asked for them."""
    if not isinstance(told, dict):
        return None
    handed, begun, ended = (
        time if isinstance(time := told.get(name), int) else 0 for name in ("handed", "begun", "ended")
    )
    drive = told.get("drive")
    return Times(handed, begun, ended, f"d{drive}" if isinstance(drive, int) else "")


def _object(body: bytes) -> Told | None:
    found = _json(body)
    return cast(Told, found) if isinstance(found, dict) else None


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None
