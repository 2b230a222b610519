"""Requests for files on tape over root://: kXR_prepare makes them, and a query (kXR_QPrep) says how far they are."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pileup.builtin.stager.names import FileNames
from pileup.builtin.stager.site import Site
from pileup.builtin.xrootd.session import PREPARE, Sessions
from pileup.plugin import Failed, NotThere
from pileup.plugin.tape import FileState, StagedFile

STAGE, CANCEL, EVICT = 8, 1, 1
"""Options of kXR_prepare (XProtocol.hh): kXR_stage, kXR_cancel; of the second set kXR_evict."""
QUERY = 8
"""Files of a query: XRootD 5.5 cuts answers of a plug-in off after about 2 KB."""
ANSWER = 30.0
"""Seconds for an answer."""


class NodeRequests:
    """Requests of this process at all nodes. The id of one is `NODE/ID`, with what the node calls it.

    A path of a test stands for a file that nobody has asked for, on the cartridge of its folder.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._names = FileNames(site.rules, site.files)
        self._lock = threading.Lock()
        self._asked: dict[str, dict[str, str]] = {}
        """Request -> path -> name of the file."""
        self._sessions = [Sessions({"url": f"root://{node}/{site.folder}"}, ANSWER) for node in site.nodes]

    def stage(self, node: int, paths: Sequence[str]) -> str:
        """Ask a node for files; return the id of the request."""
        with self._lock:
            files = {path: self._names.take(path.rpartition("/")[0]) for path in paths}
        with self._sessions[node].session("a request") as session:
            answer: bytes = session.prepare(STAGE, 0, self._lines(files.values()))
        request = f"{node}/{_text(answer)}"
        with self._lock:
            self._asked[request] = files
        return request

    def staged(self, request: str) -> list[StagedFile]:
        """Ask how far the files of a request are; those that the node does not know are left out.

        Raises NotThere for a request of another process, or one that was ended.
        """
        files = self._files(request)
        paths = {f"{self._site.folder}/{name}": path for path, name in files.items()}
        number, ours = _parts(request)
        found = []
        with self._sessions[ours].session("a query") as session:
            for at in range(0, len(paths), QUERY):
                answer: bytes = session.query(PREPARE, "\n".join((number, *list(paths)[at : at + QUERY])))
                said = (each for each in _responses(_text(answer)) if each.path in paths)
                found += [_file(paths[each.path], each) for each in said]
        return [file for file in found if file is not None]

    def touch(self, request: str, paths: Sequence[str]) -> None:
        """Open and close files of a request."""
        files = self._files(request)
        _, node = _parts(request)
        for path in paths:
            with self._sessions[node].session(repr(path)) as session:
                session.read(files[path], 0, 0)

    def cancel(self, request: str) -> None:
        """Cancel a request; what its stager has begun goes on."""
        number, node = _parts(request)
        with self._sessions[node].session("a cancel") as session:
            session.prepare(CANCEL, 0, number)

    def release(self, request: str, paths: Sequence[str]) -> None:
        """Let files of a request leave the disk."""
        files = self._files(request)
        _, node = _parts(request)
        with self._sessions[node].session("a release") as session:
            session.prepare(0, EVICT, self._lines(files[path] for path in paths))

    def forget(self, request: str) -> None:
        """Cancel a request, and do not know it any more."""
        self.cancel(request)
        with self._lock:
            self._asked.pop(request, None)

    def locality(self, paths: Sequence[str]) -> dict[str, str]:
        """Return path -> whether the first node has a file of the tape library on its disk."""
        found = {}
        for path in paths:
            try:
                with self._sessions[0].session(repr(path)) as session:
                    session.stat(path)
                found[path] = "on disk"
            except NotThere:
                found[path] = "not on disk"
        return found

    def _files(self, request: str) -> Mapping[str, str]:
        with self._lock:
            if request not in self._asked:
                raise NotThere(f"this process has no request {request}")
            return self._asked[request]

    def _lines(self, names: Iterable[str]) -> str:
        return "\n".join(f"{self._site.folder}/{name}" for name in names)


def _parts(request: str) -> tuple[str, int]:
    """Return what the node calls a request, and the node."""
    node, _, number = request.partition("/")
    return number, int(node)


def _text(answer: bytes) -> str:
    """Return the text of an answer: after its end XRootD 5.5 may send bytes of an older one."""
    return answer.partition(b"\0")[0].decode("utf-8", "replace").strip()


class Response(NamedTuple):
    """What a query says of a file."""

    path: str
    online: bool
    requested: bool
    error: str


def _responses(answer: str) -> list[Response]:
    """Return what a query says of each file. Raises Failed for an answer in other words."""
    try:
        return [
            Response(str(each["path"]), bool(each["online"]), bool(each["requested"]), str(each["error_text"]))
            for each in json.loads(answer)["responses"]
        ]
    except (ValueError, KeyError, TypeError):
        raise Failed(f"the query is answered with {answer[:80]!r}", "the files of the request in JSON") from None


def _file(path: str, said: Response) -> StagedFile | None:
    """Return how far a file is; None: the node does not know it any more."""
    if said.online:
        return StagedFile(path, FileState.COMPLETED)
    if said.error:
        return StagedFile(path, FileState.FAILED, said.error)
    return StagedFile(path, FileState.SUBMITTED) if said.requested else None
