"""Tape systems that speak the WLCG Tape REST API, version 1."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import ClassVar

from pileup.builtin.http.location import locate
from pileup.builtin.tape.answers import staged_of
from pileup.builtin.tape.rest_api import WELL_KNOWN, RestStaging
from pileup.plugin import Ambiguous, Duration, Failed, Refused, TargetError, VerdictException, option
from pileup.plugin.tape import StagedFile, Step, TapeTarget


class TapeRestTarget(RestStaging, TapeTarget):
    """Tape system with the WLCG Tape REST API (v1): dCache, EOS with CTA, StoRM, or a practice tape library.

    The url is that of the server, whose `/.well-known/wlcg-tape-rest-api` names the API, or that of the API itself
    (`https://se01.site.org:3880/api/v1/tape`) where there is no such page. The API may be at another port of the same
    host, or at a host of `trust`. Paths of files are as the system knows them, not relative to the url. A token needs
    the scope `storage.stage`. Files of a request have the states of the API; where a system says `onDisk` instead, as
    EOS does, a file is COMPLETED when it is on disk and FAILED when it has an error. A file or request that the system
    does not know any more is lost. Options and credentials are those of kind `http`.

    Tests of whole requests are `tape.stage` and `tape.storm` with `tape.poll`. `tape.project` asks for each file in a
    request of its own, and then every `poll`: its times are those of the polls, except on a practice tape library.
    """

    kind = "tape-rest"
    provides: ClassVar[frozenset[str]] = RestStaging.provides | TapeTarget.provides
    _more: ClassVar[str] = ""
    """Query of a poll: a practice library is asked for its own times."""

    poll: Duration = option(10**9, gt=0, help="time between two polls of a file of `tape.project`")

    @property
    def nodes(self) -> int:
        """Worker nodes that the system knows; 1 where it says nothing."""
        return self._api.endpoint.nodes

    def probe(self) -> str:
        """Ask for the metadata. Raises TargetError where nothing answers, or what is not such an API."""
        answer = self._look("HEAD")
        try:
            endpoint = self._api.endpoint
        except VerdictException as problem:
            raise TargetError(f"{self.url}: {problem.what}", "an answer", "is it up, is the url right?") from problem
        if not endpoint.site:
            self._ask_where()
        return f"Tape REST API v1 of {endpoint.site or answer.getheader('Server') or 'an unnamed site'}"

    def remarks(self) -> list[str]:
        """Warn where requests do not go through the relay of `path`."""
        where = locate(self._api.endpoint.url)
        past = self.via and where.authority != self.location.authority
        told = [f"its API is at {where.authority}, which the relay of `path` does not lead to"] if past else []
        return super().remarks() + told

    def _ask_where(self) -> None:
        """Raise TargetError where there is no such API: one that says nothing of itself says where files are."""
        try:
            self.locality(["/"])
        except Refused:
            pass  # there is one, which wants to know more of us
        except (Failed, Ambiguous) as problem:
            told = f"{self.url} names no Tape REST API, and is none: {problem.what}"
            raise TargetError(told, f"one, or /{WELL_KNOWN}", "correct the url") from problem

    def recall(self, node: int, path: str, size: int) -> AsyncIterator[Step]:
        """Ask for a file in a request of its own; its size is what it is."""
        from pileup.builtin.tape.recall import recalled  # noqa: PLC0415  it imports asyncio

        return recalled(self, node, path)

    def followed(self, request: str) -> list[StagedFile]:
        """The same, with the times that a practice library knows."""
        return staged_of(self._ask("GET", f"stage/{request}", query=self._more).body)
