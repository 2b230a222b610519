"""Credentials handed over to a computing element, which makes the key and asks for a signature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pileup.builtin.arc.users import Users
from pileup.plugin import Failed, Refused, TargetError
from pileup.plugin.batch import Delegation


class Delegations:
    """Makes, renews and revokes delegations of users."""

    def __init__(self, users: Users) -> None:
        self._users = users

    def make(self, lifetime: int, user: str) -> Delegation:
        """Hand over a proxy that lasts for so many ns."""
        signer = self._signer(user)
        number, request = self._users.rest(user).ask_to_sign()
        return self._handed_over(number, user, request, signer, lifetime)

    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        """Hand over another proxy in the place of one."""
        signer = self._signer(delegation.user)
        request = self._users.rest(delegation.user).ask_to_renew(delegation.id)
        return self._handed_over(delegation.id, delegation.user, request, signer, lifetime)

    def take_back(self, delegation: Delegation) -> None:
        """Delete one; one that is not there is fine."""
        self._users.rest(delegation.user).take_back(delegation.id)

    def _handed_over(self, number: str, user: str, request: str, signer: Any, lifetime: int) -> Delegation:
        try:
            proxy = _signing().sign(request, signer, lifetime)
        except ValueError as problem:
            raise Failed(str(problem)) from problem
        self._users.rest(user).hand_over(number, proxy.text)
        return Delegation(number, proxy.expires, user)

    def _signer(self, user: str) -> Any:
        try:
            identity = self._users.identity(user)
        except TargetError as problem:
            raise Failed(str(problem)) from problem
        if identity.certificate is None:
            raise Failed("there is nothing to delegate; expected `credentials` with a certificate and key, or a proxy")
        try:
            return _signing().Signer.read(Path(identity.certificate), Path(identity.key or identity.certificate))
        except OSError as problem:
            raise Failed(f"{problem.filename} cannot be read: {problem.strerror}") from problem
        except ValueError as problem:
            raise Failed(str(problem)) from problem


def _signing() -> Any:
    try:
        from pileup.builtin.arc import proxy  # noqa: PLC0415  of an extra
    except ImportError as problem:
        raise Refused(
            f"{problem.name} is not installed, which signs delegations; expected it: pip install 'pileup[servers]'"
        ) from None
    return proxy
