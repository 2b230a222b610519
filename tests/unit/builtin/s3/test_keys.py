"""Keys of S3: of the suite, of the environment, of a profile."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.s3.keys import Keys, keys_of, region_of
from pileup.model import surroundings
from pileup.model.suite import Credentials
from pileup.plugin import TargetError

CREDENTIALS = """
[default]
aws_access_key_id = of-default
aws_secret_access_key = secret/of+default=

[grid]
aws_access_key_id = of-grid
aws_secret_access_key = secret%of-grid
aws_session_token = token-of-grid
"""
CONFIG = """
[default]
region = eu-west-1
s3 =
  addressing_style = path

[profile grid]
region = eu-central-1
aws_access_key_id = not-this-one

[profile role]
role_arn = arn:aws:iam::1:role/x
"""


@pytest.fixture
def around(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Files of profiles, as two variables; what is added counts when it is made known."""
    (tmp_path / "credentials").write_text(CREDENTIALS)
    (tmp_path / "config").write_text(CONFIG)
    yield {
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
    }
    surroundings.introduce({}, 0)


def keys(around: dict[str, str], **given: Any) -> Keys:
    surroundings.introduce(around, 1000)
    return keys_of(Credentials(**given))


def test_the_suite_comes_first_then_the_environment_then_the_profile(around: dict[str, str]) -> None:
    assert keys(around) == Keys("of-default", "secret/of+default=")
    named = around | {"AWS_PROFILE": "grid"}
    assert keys(named) == Keys("of-grid", "secret%of-grid", "token-of-grid")
    mine = named | {"AWS_ACCESS_KEY_ID": "mine", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"}
    assert keys(mine) == Keys("mine", "s", "t")
    assert keys(mine, profile="default").access_key == "of-default"
    assert keys(mine, access_key="k", secret_key="x") == Keys("k", "x")
    assert keys(mine, access_key="k", secret_key="x", session_token="y") == Keys("k", "x", "y")


def test_the_region_is_that_of_the_target_the_environment_or_the_profile(around: dict[str, str]) -> None:
    surroundings.introduce(around, 1000)
    assert region_of(Credentials(), "us-west-2") == "us-west-2"
    assert region_of(Credentials(), None) == "eu-west-1"
    assert region_of(Credentials(profile="grid"), None) == "eu-central-1"
    assert region_of(Credentials(profile="role"), None) == "us-east-1"
    surroundings.introduce(around | {"AWS_DEFAULT_REGION": "sa-east-1"}, 1000)
    assert region_of(Credentials(), None) == "sa-east-1"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"token": "hunter2"}, "a token, a user, a proxy or a certificate, which S3 does not take"),
        ({"access_key": "k"}, "one of access_key and secret_key; expected both"),
        ({"session_token": "hunter2"}, "a session_token and no keys"),
        ({"access_key": "k", "secret_key": "hunter2", "profile": "grid"}, "keys and a profile"),
        ({"profile": "role"}, "the profile 'role' has no keys: it makes them by role_arn, which pileup does not do"),
        ({"profile": "none"}, "no keys for S3 are found, looked for in `credentials`, $AWS_ACCESS_KEY_ID and the pro"),
    ],
)
def test_what_is_missing_is_told_without_a_secret(around: dict[str, str], given: dict[str, str], told: str) -> None:
    with pytest.raises(TargetError) as caught:
        keys(around, **given)
    assert told in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_none_is_told_by_its_line_alone(around: dict[str, str]) -> None:
    path = Path(around["AWS_SHARED_CREDENTIALS_FILE"])
    path.write_text("[default]\nhunter2\n")
    with pytest.raises(TargetError) as caught:
        keys(around)
    assert str(path) in str(caught.value)
    assert "is not a file of profiles" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_keys_are_not_shown() -> None:
    assert "hunter2" not in repr(Keys("k", "hunter2", "hunter2"))
