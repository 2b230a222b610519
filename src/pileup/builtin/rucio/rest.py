"""Rucio's REST interface (https://rucio.cern.ch/documentation/html/rest_api_doc.html): requests and answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from pileup.builtin.http.connection import REFUSALS, Answer, Connections
from pileup.plugin import Cause, Failed, NotThere, Refused, ThereAlready, VerdictException

JSON = "application/json"
STREAM = "application/x-json-stream"
"""One object of JSON in each line."""
TOKEN, EXPIRES = "X-Rucio-Auth-Token", "X-Rucio-Auth-Token-Expires"
CLASS, MESSAGE = "ExceptionClass", "ExceptionMessage"
"""Headers in which it says what went wrong."""
LONGEST = 160
"""Characters of what it says that are shown."""
NOT_THERE = frozenset(
    {"AccountNotFound", "DataIdentifierNotFound", "ReplicaNotFound", "RSENotFound", "ScopeNotFound", "FileNotFound"}
)
THERE_ALREADY = frozenset(
    {
        "DataIdentifierAlreadyExists",
        "Duplicate",
        "DuplicateContent",
        "FileAlreadyExists",
        "FileReplicaAlreadyExists",
        "ScopeAlreadyExists",
    }
)
REFUSING = frozenset({"AccessDenied", "CannotAuthenticate", "ResourceTemporaryUnavailable", "QuotaExceeded"})


@dataclass(frozen=True, slots=True, repr=False)
class Login:
    """What a login has given. Holds a secret: never shown."""

    token: str
    lasts: int | None
    """Nanoseconds from the answer on, by the server's clock; None: it does not say."""
    account: str

    def __repr__(self) -> str:
        return "Login(secret)"


@dataclass(frozen=True, slots=True)
class Entry:
    """A name in an answer, with what the answer says of it."""

    name: str
    scope: str = ""
    kind: str = ""
    """CONTAINER, DATASET or FILE."""
    places: tuple[str, ...] = ()
    """Storage elements that have the file."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that was understood."""

    entries: list[Entry]
    size: int
    """Bytes of the answer."""


class Rest:
    """Requests over the connections of a target. Raises Refused, Failed, NotThere, ThereAlready, Ambiguous."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def log_in(self, user: str, password: str, account: str) -> Login:
        """Ask for a token with a password. Raises Refused for a wrong one."""
        headers = {"X-Rucio-Username": user, "X-Rucio-Password": password, "X-Rucio-AppID": "pileup"}
        headers |= {"X-Rucio-Account": account} if account else {}
        head = self._send("GET", "auth/userpass", headers=headers).head
        token, end = head.getheader(TOKEN), head.getheader(EXPIRES)
        if not token:
            named = head.getheader("X-Rucio-Auth-Accounts")
            if named:
                raise Failed(f"{user!r} has several accounts: {named:.{LONGEST}}", "one", "give the option `account`")
            raise Failed("the answer to a login has no token", f"a header {TOKEN}")
        return Login(token, _lasts(end, head.getheader("Date")), head.getheader("X-Rucio-Auth-Account") or account)

    def ask(
        self, token: str, method: str, path: str, body: object = None, *, query: str = "", kind: str = STREAM
    ) -> Reply:
        """Send a request that a token is needed for; return the names in the answer."""
        headers = {TOKEN: token, "Accept": JSON if kind == JSON else f"{STREAM}, {JSON};q=0.9"}
        sent = None
        if body is not None:
            sent, headers["Content-Type"] = json.dumps(body).encode(), JSON
        answer = self._send(method, path, sent, headers, query)
        return Reply([_entry(each) for each in _values(answer, kind)], len(answer.body))

    def whose(self, token: str) -> str:
        """Return the account of a token: the server answers by leading to it."""
        answer = self._send(
            "GET", "accounts/whoami", headers={TOKEN: token, "Accept": JSON}, passing=HTTPStatus.SEE_OTHER
        )
        return (answer.head.getheader("Location") or "").rstrip("/").rpartition("/")[2]

    def ping(self) -> str:
        """Return the version of the server."""
        found = _values(self._send("GET", "ping", headers={"Accept": JSON}), JSON)
        version = found[0].get("version") if found and isinstance(found[0], dict) else None
        if not isinstance(version, str):
            raise Failed("the answer of /ping has no version", "that of Rucio")
        return version

    def close(self) -> None:
        """Close the connection of this thread."""
        self._connections.close()

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        query: str = "",
        *,
        passing: int = HTTPStatus.OK,
    ) -> Answer:
        answer = self._connections.send(method, path, body, headers, query)
        if answer.status not in (passing, HTTPStatus.OK, HTTPStatus.CREATED):
            raise problem_of(answer.status, answer.head.reason, answer.head.headers)
        return answer


def problem_of(status: int, reason: str, headers: Message) -> VerdictException:
    """Return what an answer that is none means: by the class of Rucio's exception, else by the status."""
    kind, text = headers.get(CLASS) or "", " ".join((headers.get(MESSAGE) or "").split())
    said = "".join(sign for sign in text if sign.isprintable())[:LONGEST]
    what = f"{status} {kind or reason}".rstrip() + (f": {said}" if said else "")
    if kind in NOT_THERE or (not kind and status == HTTPStatus.NOT_FOUND):
        return NotThere(what)
    if kind in THERE_ALREADY:
        return ThereAlready(what)
    if kind in REFUSING or status in REFUSALS:
        return Refused(what)
    return Failed(what)


def expired(problem: Refused) -> Refused:
    """Return a refusal with the cause that the token was over."""
    problem.because(Cause.TOKEN_EXPIRED)
    return problem


def _lasts(end: str | None, now: str | None) -> int | None:
    """Return how long a token lasts, ns; both times are the server's, in whole seconds."""
    try:
        return round((parsedate_to_datetime(end or "") - parsedate_to_datetime(now or "")).total_seconds() * 1e9)
    except (ValueError, TypeError):
        return None


def _values(answer: Answer, kind: str) -> list[object]:
    """Return the values of JSON in an answer: of a stream one in each line; of what was made (201) there are none."""
    if answer.status == HTTPStatus.CREATED:
        return []
    lines = answer.body.splitlines() if kind == STREAM else [answer.body]
    try:
        found = [json.loads(line) for line in lines if line.strip()]
    except ValueError:
        raise Failed("the answer is not JSON", "that of Rucio") from None
    return found[0] if kind == JSON and found and isinstance(found[0], list) else found


def _entry(value: object) -> Entry:
    """Return what a value says of a name. Raises Failed for one that names nothing."""
    if isinstance(value, str):
        return Entry(value)
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise Failed("the answer has an entry without a name", "that of Rucio")
    kind, states = value.get("did_type") or value.get("type"), value.get("states")
    places = tuple(sorted(map(str, states))) if isinstance(states, dict) else ()
    return Entry(value["name"], str(value.get("scope", "")), str(kind or "").upper(), places)
