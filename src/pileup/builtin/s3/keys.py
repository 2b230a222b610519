"""Who pileup is for S3: keys of the suite, of the environment, or of a profile, in the order of AWS's own tools.

Source of names, order and files: AWS SDKs and Tools Reference Guide, "Credentials" and "Shared config and credentials
files".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from pileup.plugin import TargetError
from pileup.plugin.credentials import Credentials, Surroundings, surroundings

REGION = "us-east-1"
"""Where nothing says another: what servers other than AWS's take as a rule."""
OTHER_WAYS = ("role_arn", "credential_process", "sso_session", "sso_start_url", "web_identity_token_file")
"""Words of a profile that say how keys are made; pileup makes none."""


class EngineKeys(TypedDict):
    """Keys as the engine's client takes them."""

    access_key: str
    secret_key: str
    session_token: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """An access key with its secret; of a session also its token. Holds secrets: never shown."""

    access_key: str
    secret_key: str
    session_token: str | None = None

    def __repr__(self) -> str:
        return "Keys(secret)"

    def to_native(self) -> EngineKeys:
        """Return them as the engine's client takes them."""
        return {
            "access_key": self.access_key,
            "secret_key": self.secret_key,
            "session_token": self.session_token,
        }


def keys_of(given: Credentials) -> Keys:
    """Return the keys: of the suite; else, unless it names a profile, of the environment; else of the profile.

    Raises TargetError where there are none.
    """
    _check_words(given)
    if given.access_key is not None and given.secret_key is not None:
        token = given.session_token.get_secret_value() if given.session_token else None
        return Keys(given.access_key.get_secret_value(), given.secret_key.get_secret_value(), token)
    around = surroundings()
    variable = around.variables.get
    key, secret = variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")
    if given.profile is None and key and secret:
        return Keys(key, secret, variable("AWS_SESSION_TOKEN") or None)
    name = _profile(given, around)
    return _of_profile(name, _read(name, around))


def region_of(given: Credentials, option: str | None) -> str:
    """Return the region of signatures: of the target, of the environment, of the profile, or us-east-1."""
    if option:
        return option
    around = surroundings()
    named = around.variables.get("AWS_REGION") or around.variables.get("AWS_DEFAULT_REGION")
    return named or _read(_profile(given, around), around).get("region") or REGION


def _check_words(given: Credentials) -> None:
    """Raise TargetError for words that S3 does not take, or of which one is missing."""
    if given.bearer or given.user is not None or given.password is not None or given.proxy or given.certificate:
        raise TargetError(
            "credentials have a token, a user, a proxy or a certificate, which S3 does not take",
            "access_key and secret_key, a profile, or neither: then the environment or ~/.aws",
        )
    if (given.access_key is None) != (given.secret_key is None):
        raise TargetError("credentials have one of access_key and secret_key", "both")
    if given.session_token is not None and given.secret_key is None:
        raise TargetError("credentials have a session_token and no keys", "access_key and secret_key with it")
    if given.profile is not None and given.secret_key is not None:
        raise TargetError("credentials have keys and a profile", "one of the two")


def _profile(given: Credentials, around: Surroundings) -> str:
    return given.profile or around.variables.get("AWS_PROFILE") or "default"


def _files(around: Surroundings) -> list[Path]:
    """Return the files of profiles; what the first has counts."""
    folder = around.home() / ".aws"
    credentials = around.variables.get("AWS_SHARED_CREDENTIALS_FILE") or folder / "credentials"
    return [
        Path(credentials).expanduser(),
        Path(around.variables.get("AWS_CONFIG_FILE") or folder / "config").expanduser(),
    ]


def _read(name: str, around: Surroundings) -> dict[str, str]:
    """Return what the files say of a profile. Raises TargetError for a file that is none of these."""
    import configparser  # noqa: PLC0415  only who has no keys in the suite needs it

    found: dict[str, str] = {}
    for path in _files(around):
        parser = configparser.RawConfigParser(default_section="")
        try:
            parser.read_string(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as problem:
            raise TargetError(f"{path} cannot be read: {problem}", "a file that this user can read") from problem
        except configparser.Error as problem:
            line = getattr(problem, "lineno", None)
            where = f" at line {line}" if line else ""  # the text may be a secret
            raise TargetError(f"{path} is not a file of profiles{where}", "sections of NAME = VALUE") from None
        for section in (name, f"profile {name}"):
            if parser.has_section(section):
                found = {**parser[section], **found}
    return found


def _of_profile(name: str, found: dict[str, str]) -> Keys:
    key, secret = found.get("aws_access_key_id"), found.get("aws_secret_access_key")
    if key and secret:
        return Keys(key, secret, found.get("aws_session_token") or None)
    other = next((word for word in OTHER_WAYS if word in found), None)
    if other:
        raise TargetError(
            f"the profile {name!r} has no keys: it makes them by {other}, which pileup does not do",
            "keys",
            "`aws configure export-credentials` prints them for the environment",
        )
    raise TargetError(
        f"no keys for S3 are found, looked for in `credentials`, $AWS_ACCESS_KEY_ID and the profile {name!r}",
        "access_key and secret_key",
        "`anonymous: true` signs nothing",
    )
