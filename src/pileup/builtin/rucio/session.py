"""A client of Rucio: its token, renewed before it is over, and what it can do to names."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from pileup.builtin.credentials.token_source import TokenSource
from pileup.builtin.rucio.rest import JSON, STREAM, Entry, Login, Reply, Rest, expired
from pileup.plugin import Failed, NotThere, Refused
from pileup.plugin.catalogue import CatalogueTarget

SHARE = 4
MOST_AHEAD = 60.0
"""A quarter of its life before its end a token is renewed, at most so many seconds."""
MOST_NAMED = 10
COLLECTIONS = {"container": "CONTAINER", "dataset": "DATASET"}
ADLER32 = "00000001"
"""Checksum (RFC 1950) of no bytes: what is registered here exists in the catalogue alone."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who a client of Rucio is. Holds secrets: never shown."""

    user: str
    password: str
    account: str
    token: TokenSource

    def __repr__(self) -> str:
        return "Account(secret)"


class Session:
    """One client. Methods raise Refused, Failed, NotThere, ThereAlready or Ambiguous; for one thread at a time."""

    def __init__(self, target: CatalogueTarget, rest: Rest, who: Account, scope: str) -> None:
        self._target = target
        self._rest = rest
        self._who = who
        self._scope = scope
        self._login: Login | None = None
        self._due = self._end = float("inf")
        """When the token is renewed, and when it is over, in seconds of the monotonic clock."""

    @property
    def must_log_in(self) -> bool:
        """Whether there is a password, and no token that is good for long enough."""
        return bool(self._who.user) and (self._login is None or time.monotonic() >= self._due)

    def log_in(self) -> Login:
        """Ask for a token with the password: the first one, or the next."""
        if not self._who.user:
            raise Failed("there is no password to log in with", "`credentials` with `user` and `password`")
        login = self._login = self._rest.log_in(self._who.user, self._who.password, self._who.account)
        now = time.monotonic()
        lasts = float("inf") if login.lasts is None else login.lasts / 1e9
        self._due, self._end = now + lasts - min(lasts / SHARE, MOST_AHEAD), now + lasts
        return login

    def account(self) -> str:
        """Return which account the token is of, as Rucio sees it."""
        return self._rest.whose(self._token())

    def scopes(self) -> list[str]:
        """Return the names of all scopes."""
        return [each.name for each in self._ask("GET", "scopes/", kind=JSON).entries]

    def need_scope(self, scope: str) -> None:
        """Raise NotThere for a scope that does not exist: Rucio lists it as an empty one."""
        known = self.scopes()
        if scope not in known:
            some = ", ".join(sorted(known)[:MOST_NAMED]) + (", …" if len(known) > MOST_NAMED else "")
            raise NotThere(f"there is no scope {scope!r}", f"one of {some or 'none'}", "options: {scope: SCOPE}")

    def top(self, scope: str) -> Reply:
        """Return what is in a scope and in no collection of it."""
        return self._ask("GET", f"dids/{scope}/")

    def content(self, name: str) -> Reply:
        """Return what is attached to a collection."""
        return self._ask("GET", f"{self._did(name)}/dids")

    def find(self, prefix: str) -> list[Entry]:
        """Return everything whose name begins so."""
        query = urlencode({"type": "all", "long": "True", "name": f"{prefix}*"})
        return self._ask("GET", f"dids/{self._scope}/dids/search", query=query).entries

    def create(self, kind: str, names: Sequence[str]) -> None:
        """Make collections, which are `container` or `dataset`: one by its own request, several by a bulk one."""
        self._check(names)
        if len(names) == 1:
            self._ask("POST", self._did(names[0]), {"type": COLLECTIONS[kind]})
        else:
            self._ask("POST", "dids", [{**did, "type": COLLECTIONS[kind]} for did in self._dids(names)])

    def attach(self, name: str, children: Sequence[str]) -> None:
        """Attach files to a data set, or collections to a container."""
        self._check([name])
        self._ask("POST", f"{self._did(name)}/dids", {"dids": list(self._dids(children))})

    def register(self, rse: str, names: Sequence[str], size: int) -> None:
        """Register files of that size (bytes) as replicas on a storage element, by one request."""
        self._check(names)
        files = [{**did, "bytes": size, "adler32": ADLER32} for did in self._dids(names)]
        self._ask("POST", "replicas", {"rse": rse, "files": files})

    def replicas(self, names: Sequence[str]) -> Reply:
        """Return an entry for each file of these names, which are files or collections, by one request."""
        asked = {"dids": list(self._dids(names)), "all_states": True, "ignore_availability": True}
        return self._ask("POST", "replicas/list", asked)

    def remove(self, rse: str, names: Sequence[str]) -> None:
        """Delete the replicas of files on a storage element; a file without any other goes, too."""
        self._check(names)
        self._ask("DELETE", "replicas", {"rse": rse, "files": list(self._dids(names))})

    def exists(self, name: str) -> bool:
        """Whether there is a file or a collection of that name."""
        try:
            self._ask("GET", self._did(name), kind=JSON)
        except NotThere:
            return False
        return True

    def erase(self, name: str) -> None:
        """Let a collection expire now; Rucio's undertaker removes it later."""
        self._check([name])
        self._ask("POST", f"{self._did(name)}/meta/lifetime", {"value": 0})

    def close_collection(self, name: str) -> None:
        """Let nothing more be attached: Rucio then removes a collection with the last file in it."""
        self._check([name])
        self._ask("PUT", f"{self._did(name)}/status", {"open": False})

    def end(self) -> None:
        """Close the connection of this thread."""
        self._rest.close()

    def _ask(self, method: str, path: str, body: object = None, query: str = "", kind: str = STREAM) -> Reply:
        try:
            return self._rest.ask(self._token(), method, path, body, query=query, kind=kind)
        except Refused as problem:
            if time.monotonic() >= self._end:
                raise expired(problem) from None
            raise

    def _token(self) -> str:
        if not self._who.user:
            return self._who.token.get()
        return (self._login or self.log_in()).token

    def _did(self, name: str) -> str:
        return f"dids/{self._scope}/{name}"

    def _dids(self, names: Iterable[str]) -> Iterator[dict[str, str]]:
        return ({"scope": self._scope, "name": name} for name in names)

    def _check(self, names: Iterable[str]) -> None:
        for name in names:
            self._target.check_inside(self._scope, name)
