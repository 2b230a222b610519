"""Rucio as a kind of target: attached by its url, or started by pileup."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pileup.builtin.credentials.identity import Identity
from pileup.builtin.http.connection import Connections
from pileup.builtin.http.target import HttpTarget
from pileup.builtin.rucio.launcher import rucio_launcher
from pileup.builtin.rucio.launcher_files import TOLD
from pileup.builtin.rucio.purge import purge
from pileup.builtin.rucio.rest import Rest
from pileup.builtin.rucio.session import Account, Session
from pileup.builtin.rucio.settings import RucioSettings
from pileup.plugin import Ambiguous, Failed, Launcher, NotThere, Refused, TargetError, option
from pileup.plugin.catalogue import CatalogueTarget


@dataclass(frozen=True, slots=True, repr=False)
class Private:
    """What a private Rucio says about itself. Holds secrets: never shown."""

    user: str
    password: str
    account: str
    scopes: tuple[str, ...]
    rses: tuple[str, ...]
    database: str

    def __repr__(self) -> str:
        return "Private(secret)"

    @classmethod
    def beside(cls, token_file: str | None) -> Private | None:
        """Return what a private Rucio has written beside a token; None for a Rucio that pileup did not launch."""
        path = Path(token_file).parent / TOLD if token_file else None
        if path is None or not path.is_file():
            return None
        told = json.loads(path.read_text())
        scopes, rses = tuple(told["scopes"]), tuple(told["rses"])
        return cls(told["user"], told["password"], told["account"], scopes, rses, told["database"])


class RucioTarget(HttpTarget, CatalogueTarget):
    """Rucio, a catalogue of files, data sets and replicas, by its REST interface.

    The url is that of the server, https://rucio.site.org. Credentials are `user` and `password` (pileup logs in at
    /auth/userpass and renews its token before it is over), or a `token` or `token_file` of Rucio; and `ca`. Names are
    made in the `scope` alone, and begin with those of the run; what begins so is removed at the end: replicas and
    files at once, where Rucio lets the account, and collections without files by their expiry. `limits.inside` is
    /SCOPE or /SCOPE/PREFIX.

    With `launch` pileup starts Rucio with a private PostgreSQL and memcached on this machine, all as one ordinary user,
    on 127.0.0.1: for example `launch: {workers: 4}`. Rucio itself runs from a virtual environment of its own; if there
    is none, the error names the command that makes it.
    """

    kind = "rucio"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "http", "catalogue"})
    launch_settings: ClassVar[Any] = RucioSettings

    scope: str = option("", help="where names are made; of a private Rucio `pileup`")
    rses: list[str] = option([], help="storage elements for replicas, by name; of a private Rucio its own two")
    account: str = option("", help="account to act as; default: the one of the user")

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start one. Raises ValueError for a setting that is unknown or out of bounds."""
        return rucio_launcher(RucioSettings.model_validate(settings))

    @cached_property
    def private(self) -> Private | None:
        """What is known of a private Rucio; None for another one."""
        return Private.beside(self.credentials.token_file)

    @property
    def names_scope(self) -> str:
        """The scope that names are made in. Raises TargetError when there is none."""
        found = self.scope or (self.private.scopes[0] if self.private else "")
        if not found:
            raise TargetError("the target has no scope", "one that the account may write in", "options: {scope: SCOPE}")
        return found

    @property
    def storage(self) -> list[str]:
        """The storage elements for replicas."""
        return self.rses or list(self.private.rses if self.private else ())

    @property
    def database_url(self) -> str:
        """The database of a private Rucio as monitors take it, "" where it cannot be reached."""
        return self.private.database if self.private else ""

    @property
    def identity(self) -> Identity:
        """Who pileup is for the server below Rucio: what is said to Rucio itself goes into headers of its own."""
        return replace(super().identity, user=None, password=None, token=None, token_file=None)

    @cached_property
    def _who(self) -> Account:
        found = super().identity
        if self.private is not None:
            private = self.private
            return Account(private.user, private.password, self.account or private.account, found.source())
        if found.user is None and not self.credentials.bearer:
            raise TargetError("the target has no credentials", "`user` and `password`, or a `token` of Rucio")
        return Account(found.user or "", found.password or "", self.account, found.source())

    def session(self, connections: Connections | None = None) -> Session:
        """Return a client that is not logged in yet. Raises TargetError for credentials that cannot be used."""
        return Session(self, Rest(connections or self.connections), self._who, self.names_scope)

    def probe(self) -> str:
        """Ask for the version, log in, and look whether the scope is there."""
        connections = self._connections(self.first_answer)
        try:
            version = Rest(connections).ping()
        except (Failed, Ambiguous, Refused) as problem:
            self._look("GET")  # it says so if there is no server, no TLS, no trust
            raise TargetError(
                f"{self.url} does not answer as Rucio: {problem.what}", "Rucio's REST server", "is the url right?"
            ) from problem
        session = self.session(connections)
        try:
            if session.must_log_in:
                session.log_in()
            session.need_scope(self.names_scope)
        except NotThere as problem:
            raise TargetError(f"{self.url}: {problem.what}", problem.expected, problem.hint) from problem
        except (Failed, Ambiguous, Refused) as problem:
            raise TargetError(
                f"{self.url} does not let pileup in: {problem.what}",
                "an account that may log in",
                "are user, password and account right, or is the token good?",
            ) from problem
        finally:
            session.end()
        return f"Rucio {version}"

    def purge(self, prefix: str) -> str:
        """Remove what begins so in the scope; return in words what stays."""
        session = self.session()
        try:
            return purge(session, prefix)
        finally:
            session.end()
