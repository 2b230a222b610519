"""A bearer token from an issuer, and the next one before it has expired, for as long as a run has use for it.

Every client of pileup reads a `token_file` again when it changes, so that is what it is given. The file has no name in
any folder (memfd_create(2)): nothing is left behind, whatever ends the process, and only this user's own processes can
read it. A new token comes in a new file that takes the place of the old one at once (dup2(2)): nobody reads a half.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from pathlib import Path

from pileup.builtin.credentials.identity import Identity
from pileup.builtin.credentials.token_end import end_of
from pileup.builtin.oauth.issuer import Grant, Issuer
from pileup.plugin import Ambiguous, Failed, PileupError, Refused, TargetError
from pileup.plugin.credentials import DISCOVER, IssuerSpec, surroundings

PATIENCE = 10.0
"""Seconds that an issuer has for an answer."""
SHARE = 3
MOST_AHEAD = 300.0
"""A third of its life before its end a token is renewed, at most so many seconds."""
PAUSE, LONGEST_PAUSE = 0.5, 10.0
"""Seconds between attempts at an issuer that gives none; they double."""


class Renewal:
    """The token of one `credentials.issuer`, in a file that changes. Holds a secret: never shown."""

    def __init__(self, spec: IssuerSpec) -> None:
        """Ask for the first token. Raises TargetError."""
        self._url, self._client = spec.url or "", spec.client
        self._scope, self._audience, self._ahead, self._ca = spec.scope, spec.audience, spec.ahead, spec.ca
        self._given, self._file = spec.secret, spec.secret_file
        self._process = os.getpid()
        self._stop = threading.Event()
        self._number = os.memfd_create("pileup-token")
        try:
            first = self._first()
        except BaseException:
            os.close(self._number)
            raise
        threading.Thread(target=self._main, args=(self._due(first),), name="token renewal", daemon=True).start()

    @property
    def path(self) -> str:
        """The file that holds the token."""
        return f"/proc/{self._process}/fd/{self._number}"

    @property
    def lives(self) -> bool:
        """Whether it is of this process: a fork has the file of another, and nobody who renews it."""
        return self._process == os.getpid()

    def stop(self) -> None:
        """Renew no more."""
        self._stop.set()

    def _first(self) -> Grant:
        try:
            return self._fetch()
        except (Refused, Failed, Ambiguous) as problem:
            raise TargetError(
                f"{self._url} gives the client {self._client!r} no token: {problem.what}",
                "a token",
                "is the issuer up; are client, secret and scope right?",
            ) from problem

    def _fetch(self) -> Grant:
        """Ask for a token and put it in the file."""
        issuer = Issuer(self._url, Identity(user=self._client, password=self._secret(), ca=self._ca), PATIENCE)
        try:
            grant = issuer.fetch(self._scope, self._audience)
        finally:
            issuer.close()
        number = os.memfd_create("pileup-token")
        try:
            os.write(number, grant.token.encode())
            os.dup2(number, self._number, inheritable=False)
        finally:
            os.close(number)
        return grant

    def _secret(self) -> str:
        if self._file is not None:
            try:
                return Path(self._file).read_text().strip()
            except OSError as problem:
                told = f"secret_file {self._file} cannot be read: {problem.strerror}"
                raise TargetError(told, "a file that this user can read") from problem
        given = self._given.get_secret_value() if self._given is not None else ""
        return surroundings().client_secret() if given == DISCOVER else given

    def _due(self, grant: Grant) -> float | None:
        """Return when the next token is asked for, seconds since the epoch; None: it does not end, as far as known."""
        now, end = time.time(), end_of(grant.token)
        if end is None:
            end = None if grant.lasts is None else now + grant.lasts / 1e9
        if end is None:
            return None
        ahead = min((end - now) / SHARE, MOST_AHEAD) if self._ahead is None else self._ahead / 1e9
        return end - ahead

    def _main(self, due: float | None) -> None:
        pause = PAUSE
        while due is not None and not self._stop.wait(max(due - time.time(), 0.0)):
            try:
                due, pause = self._due(self._fetch()), PAUSE
                due = due if due is None else max(due, time.time() + PAUSE)  # one that is over as it comes
            except (PileupError, OSError):  # what fails meanwhile says why: its token has expired
                due, pause = time.time() + pause, min(2 * pause, LONGEST_PAUSE)
        self._stop.wait()
        os.close(self._number)


_renewals: dict[int, Renewal] = {}
_lock = threading.Lock()


def renewed(spec: IssuerSpec) -> str:
    """Return the file that holds the token of now, renewed for as long as the specification is held by somebody.

    Raises TargetError when the issuer gives none.
    """
    if spec.url is None:
        raise TargetError(
            f"the issuer {spec.target!r} is known in a run of its suite alone", "the url of the issuer", "give `url`"
        )
    with _lock:
        found = _renewals.get(id(spec))
        if found is None or not found.lives:
            found = _renewals[id(spec)] = Renewal(spec)
            weakref.finalize(spec, _forget, id(spec))
        return found.path


def _forget(key: int) -> None:
    found = _renewals.pop(key, None)
    if found is not None:
        found.stop()
