"""Whom pileup can be for a computing element: who it is by its credentials, and users with identities of their own."""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pileup.builtin.arc.rest import Rest
from pileup.builtin.credentials.identity import Identity
from pileup.builtin.credentials.reading import identity_of
from pileup.builtin.http.connection import Connections
from pileup.builtin.http.location import Location
from pileup.plugin import Failed, Refused, TargetError
from pileup.plugin.credentials import Credentials, look

TOLD = "pileup.json"
"""Beside the identities of a private CE: where its files are."""
MOST = 64
"""Users whose connections are kept."""
ONE = threading.Lock()


@dataclass(frozen=True, slots=True)
class Private:
    """What a private computing element says about itself."""

    accounting: Path
    subjects: Path
    ca: Path
    ca_key: Path
    control: Path
    begun: Path
    squeue: Path
    slurm_conf: Path

    @classmethod
    def beside(cls, certificate: str | None) -> Private | None:
        """Return what is reported beside a certificate; None for one of another make."""
        path = Path(certificate).parent / TOLD if certificate else None
        if path is None or not path.is_file():
            return None
        told = json.loads(path.read_text())
        return cls(**{name: Path(told[name]) for name in cls.__slots__})


class Users:
    """The identities, each with its connections. Safe for threads."""

    def __init__(
        self,
        location: Location,
        credentials: Credentials,
        folder: Path | None,
        patience: float,
        reach: tuple[str, int] | None = None,
    ) -> None:
        """`folder` holds an identity for each user, NAME.pem. Raises TargetError for credentials of no use.

        `reach` is where to connect to in the place of the location.
        """
        self._location = location
        self._credentials = credentials
        self._patience = patience
        self._reach = reach
        self.own = self._identity(credentials)
        if not (self.own.certificate or self.own.token or self.own.token_file):
            raise TargetError(
                f"no credentials for {location.authority}",
                "`credentials` with a certificate and its key, or a proxy",
                "proxy: discover",
            )
        self.private = Private.beside(self.own.certificate)
        beside = Path(self.own.certificate).parent if self.private and self.own.certificate else None
        self._folder = folder or beside
        self._lock = threading.Lock()
        self._rest: OrderedDict[str, Rest] = OrderedDict()

    def rest(self, user: str) -> Rest:
        """Return what a user asks by. Raises Failed when there is no identity of that name, or none of use."""
        user = self.who(user)
        with self._lock:
            found = self._rest.pop(user, None) or self._make(user)
            self._rest[user] = found
            while len(self._rest) > MOST:
                self._rest.popitem(last=False)
            return found

    @property
    def one(self) -> bool:
        """Whether there are no identities but the one of the credentials."""
        return self._folder is None

    def who(self, user: str) -> str:
        """Return whose identity a user acts by; "": who we are for the target, and everybody where that is all."""
        return "" if self.one else user

    def names(self) -> set[str]:
        """Return everybody who has an identity; "": who we are for the target."""
        if self._folder is None:
            return {""}
        own = self.own.certificate
        return {"", *(each.stem for each in self._folder.glob("*.pem") if str(each) != own)}

    def identity(self, user: str) -> Identity:
        """Return the identity of a user. Raises Failed when there is none, TargetError for one that is of no use."""
        user = self.who(user)
        if not user:
            return self.own
        path = self._path(user)
        if not look(path.is_file, closed=True):
            raise Failed(f"there is no identity of user {user!r} ({path}); expected a file with certificate and key")
        mine = {"certificate": str(path), "key": str(path), "ca": self._credentials.ca}
        return self._identity(Credentials.model_validate(mine))

    def introduce(self, user: str) -> None:
        """Make an identity for somebody new. Raises Refused unless the computing element is pileup's own."""
        if not user or look(self._path(user).is_file, closed=True):
            return
        if self.private is None:
            raise Refused(
                f"user {user!r} cannot be registered with a computing element that pileup did not launch; "
                f"expected an identity {user}.pem in its `identities`"
            )
        module = _certificates()
        authority = module.Authority(module.Pair(self.private.ca.read_text(), self.private.ca_key.read_text()))
        path = self._path(user)
        secret = path.with_suffix(".new")
        secret.touch(mode=0o600)
        secret.write_text(authority.user(user).both)
        owner = self.private.subjects.stat()
        if os.geteuid() == 0:
            os.chown(secret, owner.st_uid, owner.st_gid)
        with ONE, self.private.subjects.open("a") as subjects:
            subjects.write(f'"{module.subject(user)}"\n')
        secret.rename(path)

    def _path(self, user: str) -> Path:
        if self._folder is None:
            raise Failed(f"user {user!r} has no identity; expected a folder of them as `identities` of the target")
        if "/" in user or user.startswith("."):
            raise Failed(f"{user!r} is not a name of a user; expected one without slashes")
        return self._folder / f"{user}.pem"

    def _make(self, user: str) -> Rest:
        try:
            who = self.identity(user)
            return Rest(Connections(self._location, who, {}, self._patience, prompt=True, reach=self._reach))
        except TargetError as problem:
            if not user:
                raise
            raise Failed(str(problem)) from problem

    def _identity(self, credentials: Credentials) -> Identity:
        where = self._location
        return identity_of(credentials, where.host, secret=where.secret, tls=where.scheme == "https")


def _certificates() -> Any:
    try:
        from pileup.builtin.arc import identities  # noqa: PLC0415  of an extra
    except ImportError as problem:
        raise Refused(f"{problem.name} is not installed; expected it: pip install 'pileup[servers]'") from None
    return identities
