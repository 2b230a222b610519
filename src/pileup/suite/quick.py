"""Suites behind one line of a command: what `pileup check URL` and `pileup bench URL` run, as text to grow from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from pileup.model.errors import UsageError
from pileup.model.schemes import SCHEMES, STORAGE, has_password, urls
from pileup.suite.kinds import kind_by
from pileup.suite.secrets import by_name
from pileup.suite.shipped import suite_path

Plain: TypeAlias = "str | int | Sequence[Plain] | Mapping[str, Plain]"
Words: TypeAlias = dict[str, Plain]
"""Plain data, as a suite has it."""
DATABASES = ("mariadb", "mysql", "postgresql", "sqlite")
CHECKS = {
    **dict.fromkeys((*STORAGE, "practice-storage"), "storage-check"),
    **dict.fromkeys(("arc", "slurm", "practice-batch"), "batch-check"),
    "http": "http-check",
    "database": "database-check",
}
"""Kind of a target -> the shipped suite that checks one."""
OPERATIONS = {
    "read": "storage.read",
    "write": "storage.write",
    "stat": "storage.stat",
    "list": "storage.list",
    "copy": "storage.copy",
    "get": "http.request",
    "query": "sql.query",
}
"""What a benchmark can do -> the test that does it."""
KNOWN = f"{', '.join(map(urls, STORAGE))}, mariadb:// or postgresql://"
_LAUNCHED = re.compile(r"^  (\w+): \{kind: [\w-]+, launch: .*\}$", re.MULTILINE)
"""The target of a shipped check, on a line of its own."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An existing system: its url, its kind, and the credentials for it."""

    url: str
    kind: str
    credentials: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, url: str, kind: str | None, credentials: Mapping[str, str]) -> Endpoint:
        """Return the endpoint at a url, of the kind that is given or that the url says.

        Raises UsageError, also for a url with a secret, which would be shown and written to the suite.
        """
        _check_secret(url)
        found = kind or kind_of_url(url)
        if not found:
            raise UsageError(
                f"the kind of {url!r} is unknown", KNOWN, "or name it: --kind KIND (see `pileup list targets`)"
            )
        return cls(url, found, credentials)

    @property
    def files(self) -> bool:
        """Whether it has files: the other operations need none."""
        return CHECKS.get(self.kind) == "storage-check"

    @property
    def entry(self) -> str:
        """The target of a suite, as a mapping on one line of YAML."""
        words: Words = {
            "kind": self.kind,
            "url": self.url,
            **({"credentials": dict(self.credentials)} if self.credentials else {}),
        }
        return _flow(words)


def _check_secret(url: str) -> None:
    """Raise UsageError for a url with a password or a token, without showing it."""
    password = has_password(url)
    named = [name for name, _ in parse_qsl(url.partition("?")[2])]
    if password or any(name.lower() == "authz" or by_name(name) for name in named):
        raise UsageError(
            f"there is {'a password' if password else 'a token'} in the url",
            "a url without it",
            "urls are shown and recorded; --token FILE, or a suite with `credentials`",
        )


def kind_of_url(url: str) -> str:
    """Return the kind of a system by its url; empty when the url does not say it."""
    return "database" if urlsplit(url).scheme in DATABASES else kind_by(url)


@dataclass(frozen=True, slots=True)
class Press:
    """The load of a benchmark, as the user wrote it; without a `rate` the load is closed."""

    clients: int | None = None
    rate: str | None = None
    length: str = "10 s"
    warm_up: str = "1 s"
    size: str = "1 MiB"
    files: int = 16

    @property
    def load(self) -> Words:
        """The load of a suite."""
        level: Words = {} if self.rate is None else {"rate": self.rate}
        if self.rate is None or self.clients is not None:
            level["clients"] = self.clients or CLIENTS
        return {**level, "warm_up": self.warm_up, "for": self.length}


CLIENTS = 4
"""Clients of a closed load, where the user does not say how many."""


def check(endpoint: Endpoint, said: str) -> str:
    """Return the suite that checks an endpoint; `said` is the command, for its first line. Raises UsageError."""
    name = CHECKS.get(endpoint.kind)
    if name is None:
        kinds = ", ".join(sorted(CHECKS))
        raise UsageError(f"there is no check for targets of kind {endpoint.kind!r}", f"one of {kinds}", "--kind KIND")
    text = suite_path(f"suite:{name}").read_text(encoding="utf-8")
    body = text[text.index("pileup: 1\n") :]
    return f"# {said}\n{_LAUNCHED.sub(lambda found: f'  {found[1]}: {endpoint.entry}', body, count=1)}"


def bench(endpoint: Endpoint, operations: Sequence[str], press: Press, query: str, said: str) -> str:
    """Return the suite that measures operations, one after another; `query` is the statement of `query`.

    Raises UsageError for an operation that the endpoint does not have.
    """
    for each in operations:
        _check_operation(endpoint, each)
    tests = [_test(each, press, query) for each in operations]
    filled = any(each in ("read", "stat", "list", "copy") for each in operations)
    if filled:
        load = {"clients": min(CLIENTS, press.files), "times": press.files}
        tests.insert(0, {"name": "fill", "use": "storage.write", "load": load})
    criteria: list[Words] = [
        {"id": f"B{number}", "says": f"Every {each} passes", "check": f"fraction({each}.passed) == 100 %"}
        for number, each in enumerate(operations, 1)
    ]
    title = f"{', '.join(operations)} at {endpoint.url}"
    options: Words = {"files": press.files, "size": press.size}
    lines = [
        f"# {said}",
        "pileup: 1",
        f"title: {json.dumps(title[:1].upper() + title[1:], ensure_ascii=False)}",
        "targets:",
        f"  target: {endpoint.entry}",
        *([f"options: {_flow(options)}"] if filled or "write" in operations else []),
        "tests:",
        *(f"  - {_flow(each)}" for each in tests),
        "criteria:",
        *(f"  - {_flow(each)}" for each in criteria),
    ]
    return "\n".join([*lines, ""])


def _check_operation(endpoint: Endpoint, operation: str) -> None:
    web = endpoint.kind in SCHEMES and "https" in SCHEMES[endpoint.kind]
    others = {"get": web, "query": endpoint.kind == "database"}
    if not others.get(operation, endpoint.files):
        own = [each for each in OPERATIONS if others.get(each, endpoint.files)]
        expected = ", ".join(f"--{each}" for each in own) or "a storage, a web server or a database"
        raise UsageError(f"a target of kind {endpoint.kind!r} has no {operation}", expected, "is the url right?")


def _test(operation: str, press: Press, query: str) -> Words:
    options: dict[str, Words] = {
        "write": {"folder": "written", "order": "client", "files": press.clients or CLIENTS},
        "list": {"entries": press.files},
        "copy": {"checksum": "if stated"},
        "query": {"statement": query},
    }
    test: Words = {"name": operation, "use": OPERATIONS[operation]}
    if operation in ("read", "stat", "list", "copy"):
        test["after"] = ["fill"]
    if operation in options:
        test["options"] = options[operation]
    return {**test, "load": press.load}


def _flow(value: Plain) -> str:
    """Return plain data as YAML in its flow style, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_flow(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHERS:
        return value
    return json.dumps(value, ensure_ascii=False)


_PLAIN = re.compile(r"[A-Za-z][\w./ ()=-]*|\d[\d.]* ?/?[A-Za-z]+")
_OTHERS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
"""Words that are not text in YAML."""
