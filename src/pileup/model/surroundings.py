"""The user's credentials in the usual places: tokens, proxies and CA folders of the grid, keys of S3.

The command line introduces the user's environment once, at its start (`introduce`), and so does what Python users
call (`pileup.api`); nobody else reads it. What is found
is looked for when a target is opened.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pileup.model.errors import TargetError

DISCOVER = "discover"
"""The word of `credentials` that asks for it."""
VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_CONFIG_FILE",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SHARED_CREDENTIALS_FILE",
    "BEARER_TOKEN",
    "BEARER_TOKEN_FILE",
    "PILEUP_CLIENT_SECRET",
    "XDG_RUNTIME_DIR",
    "X509_USER_PROXY",
    "X509_CERT_DIR",
    "XDG_STATE_HOME",
)
TOKEN_FIRST = "make one (oidc-token, htgettoken), or name it: token_file: PATH"  # noqa: S105  where one comes from
PROXY_FIRST = "make one (voms-proxy-init), or name it: proxy: PATH"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of the environment matters, and the numeric id of the user. Holds a secret: never shown."""

    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    user: int | None = None
    temporary: Path = Path("/tmp")  # noqa: S108  the place that the grid's tools agreed upon
    certificates: Path = Path("/etc/grid-security/certificates")

    def token(self) -> tuple[str | None, Path | None]:
        """Return the bearer token, or the file that holds it (never both).

        The order is that of WLCG Bearer Token Discovery 1.0 (https://zenodo.org/records/3937438): $BEARER_TOKEN,
        $BEARER_TOKEN_FILE, $XDG_RUNTIME_DIR/bt_uUID, /tmp/bt_uUID; the first that is there counts. Raises TargetError.
        """
        self._known("token")
        if text := self._variable("BEARER_TOKEN"):
            return text, None
        places = list(self._token_files())
        found = next((path for path in places if look(path.is_file, closed=False)), None)
        if found is None:
            looked = ", ".join(["$BEARER_TOKEN", *map(str, places)])
            raise TargetError(f"no bearer token is found, looked for in {looked}", "a token of yours", TOKEN_FIRST)
        return None, found

    def client_secret(self) -> str:
        """Return the secret of a client of a token issuer: $PILEUP_CLIENT_SECRET. Raises TargetError."""
        self._known("secret")
        if found := self._variable("PILEUP_CLIENT_SECRET"):
            return found
        raise TargetError(
            "$PILEUP_CLIENT_SECRET is not set", "the secret of the client", "set it, or use secret_file: PATH"
        )

    def proxy(self) -> Path:
        """Return the file of the X.509 proxy: $X509_USER_PROXY, else /tmp/x509up_uUID. Raises TargetError."""
        self._known("proxy")
        named = self._variable("X509_USER_PROXY")
        path = Path(named) if named else self.temporary / f"x509up_u{self.user}"
        if not look(path.is_file, closed=True):
            raise TargetError(f"there is no X.509 proxy {path}", "a proxy of yours", PROXY_FIRST)
        return path

    def ca(self) -> Path:
        """Return the folder of the CA certificates: $X509_CERT_DIR, else that of the system. Raises TargetError."""
        named = self._variable("X509_CERT_DIR")
        path = Path(named) if named else self.certificates
        if not look(path.is_dir, closed=True):
            raise TargetError(
                f"there is no folder {path} of CA certificates", "that of the grid's CAs", "name one: ca: PATH"
            )
        return path

    def state(self) -> Path:
        """Return where programs of this user keep what must outlive them: $XDG_STATE_HOME, else ~/.local/state."""
        named = self._variable("XDG_STATE_HOME")
        return Path(named) if named.startswith("/") else self.home() / ".local" / "state"

    def home(self) -> Path:
        """Return the user's home: that of the account, since $HOME may be another's, as under sudo."""
        try:
            return Path(pwd.getpwuid(os.geteuid()).pw_dir)
        except KeyError:  # of a container, where numbers need no names
            return Path.home()

    def _token_files(self) -> Iterator[Path]:
        if named := self._variable("BEARER_TOKEN_FILE"):
            yield Path(named)
            return  # what is named is meant
        if folder := self._variable("XDG_RUNTIME_DIR"):
            yield Path(folder) / f"bt_u{self.user}"
        yield self.temporary / f"bt_u{self.user}"

    def _variable(self, name: str) -> str:
        return self.variables.get(name, "").strip()

    def _known(self, word: str) -> None:
        if self.user is None:
            raise TargetError(f"{word}: {DISCOVER} is not known here", "the command line, which reads the environment")


_introduced = Surroundings()


def introduce(environment: Mapping[str, str], user: int) -> None:
    """Make a user's environment known; only the command line and `pileup.api` call this."""
    global _introduced  # noqa: PLW0603  one process has one user
    _introduced = Surroundings({name: environment[name] for name in VARIABLES if name in environment}, user)


def surroundings() -> Surroundings:
    """Return what was introduced; an empty one if nothing was."""
    return _introduced


def look(ask: Callable[[], bool], *, closed: bool) -> bool:
    """Return what a look at a path says; `closed` where this user may not look: True when reading it will say so."""
    try:
        return ask()
    except PermissionError:
        return closed
