"""Settings of S3 targets and what they refuse; what goes over the wire is tested in contract/."""

from typing import Any

import pytest

from pileup.builtin.credentials.reading import identity_of
from pileup.builtin.s3.target import S3Target
from pileup.model.program import Content, Keys, Step
from pileup.model.suite import Credentials
from pileup.plugin import TargetError

MINE = Credentials(access_key="k", secret_key="s")


def target(url: str = "s3://host:9000/bucket/a", credentials: Credentials = MINE, **options: Any) -> S3Target:
    return S3Target(url, credentials, **options)


def test_the_engine_gets_what_is_given_and_nothing_else() -> None:
    assert target(region="r").client().settings == {
        "http": {
            "url": "http://host:9000",
            "keep_alive": True,
            "resume": False,
            "expect": "auto",
            "reconnect_pause": 10**9,
        },
        "bucket": "bucket",
        "prefix": "a",
        "addressing": "path",
        "region": "r",
        "credentials": {"access_key": "k", "secret_key": "s", "session_token": None},
        "payload": "signed",
        "part_size": None,
        "checksum": None,
    }
    far = target("s3s://host/bucket", region="r", part_size="16 MiB", checksum="crc32c", insecure=True)
    settings = far.client().settings
    assert isinstance(settings["http"], dict)
    assert (settings["http"]["url"], settings["http"]["insecure"]) == ("https://host", True)
    assert (settings["payload"], settings["part_size"], settings["checksum"]) == ("unsigned", 16 << 20, "crc32c")
    assert target(anonymous=True, region="r").client().settings["credentials"] is None


def test_a_relay_leads_to_the_host_that_is_connected_to() -> None:
    assert target("s3s://host/bucket").endpoint() == ("host", 443)
    assert target("s3s://host/bucket", addressing="virtual").endpoint() == ("bucket.host", 443)
    assert target("s3://bucket/a", endpoint="http://host:7070").endpoint() == ("host", 7070)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (Step("o", "rename", Keys("a"), to=".b"), "S3 has no rename"),
        (Step("o", "mkdir", Keys("a")), "S3 has no folders to make"),
        (Step("o", "write", Keys("a"), content=Content(1, 10), checksum="adler32"), "S3 has no Adler-32"),
        (Step("o", "read", Keys("a"), length=10, span=100, pieces=4), "one range in a request"),
        (Step("o", "read", Keys("a"), read_ahead=10), "nothing can be asked for ahead"),
        (Step("o", "write", Keys("a"), content=Content(1, 1 << 40)), "at most 10000 parts"),
        (Step("o", "mkdir", Keys("a"), missing_ok=True), ""),
        (Step("o", "checksum", Keys("a"), checksum="adler32"), ""),
        (Step("o", "read", Keys("a"), content=Content(1, 10)), ""),
    ],
)
def test_what_s3_cannot_do_is_known_before_a_run(step: Step, told: str) -> None:
    found = target(part_size="5 MiB").problem_of(step)
    assert told in found
    assert bool(found) == bool(told)
    assert not told or "; expected " in found


def test_what_is_without_tls_takes_no_certificates() -> None:
    with pytest.raises(TargetError, match="the url is without TLS"):
        target(insecure=True).client()
    with pytest.raises(TargetError, match="accessed without TLS"):
        target(credentials=MINE.model_copy(update={"ca": "/ca"})).client()


def test_keys_of_s3_are_for_s3_alone() -> None:
    with pytest.raises(TargetError, match="which only S3 takes"):
        identity_of(MINE, "host", secret=True, tls=True)


def test_urls_are_checked_before_a_run() -> None:
    S3Target.check_url("s3://host/bucket/a")
    S3Target.check_url("s3://bucket")
    with pytest.raises(TargetError, match="is not a url of an S3 server"):
        S3Target.check_url("davs://host/bucket")


def test_a_folder_needs_no_making_and_no_uploads_are_looked_for_without_parts() -> None:
    nowhere = target("s3://127.0.0.1:9/bucket")
    nowhere.mkdir("a/b")
    assert nowhere.end_uploads("a") == 0
