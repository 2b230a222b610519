"""Urls of S3 targets."""

import pytest

from pileup.builtin.s3.location import place_of
from pileup.plugin import TargetError


@pytest.mark.parametrize(
    ("url", "endpoint", "server", "bucket", "prefix"),
    [
        ("s3://host:9000/bucket/a/b/", None, "http://host:9000", "bucket", "a/b"),
        ("s3s://host/bucket", None, "https://host", "bucket", ""),
        ("https://host/bucket/a%20b", None, "https://host", "bucket", "a b"),
        ("s3://[::1]:9000/bucket", None, "http://[::1]:9000", "bucket", ""),
        ("s3://bucket/a/b", "https://s3.example.org/", "https://s3.example.org/", "bucket", "a/b"),
        ("s3://Old_Bucket", "http://127.0.0.1:7070", "http://127.0.0.1:7070", "Old_Bucket", ""),
    ],
)
def test_a_url_has_a_server_a_bucket_and_a_prefix(
    url: str, endpoint: str | None, server: str, bucket: str, prefix: str
) -> None:
    place = place_of(url, endpoint)
    assert (place.server.url, place.bucket, place.prefix) == (server, bucket, prefix)


def test_a_host_may_name_the_bucket() -> None:
    place = place_of("s3s://s3.example.org/bucket/a", None)
    assert (place.host(virtual=True), place.host(virtual=False)) == ("bucket.s3.example.org", "s3.example.org")


@pytest.mark.parametrize(
    ("url", "endpoint", "told"),
    [
        ("", None, "the target has no url; expected one like s3s://host:9000/bucket/prefix"),
        ("root://host//data", None, "'root://host//data' is not a url of an S3 server"),
        ("s3:///bucket", None, "is not a url of an S3 server"),
        ("s3://host/", None, "names no bucket"),
        ("s3://host:port/bucket", None, "the url of host has the port 'port'"),
        ("s3://me:hunter2@host/bucket", None, "the url of host holds a user name or a password"),
        ("s3://host/bucket?versionId=1", None, "has a query or a fragment"),
        ("s3://host/a%2Bb/c", None, "'a+b' is not the name of a bucket; expected letters"),
        ("s3://bucket/x", "ftp://host", "'ftp://host' is not a url of an HTTP server"),
    ],
)
def test_what_is_no_url_is_told_without_its_secret(url: str, endpoint: str | None, told: str) -> None:
    with pytest.raises(TargetError) as caught:
        place_of(url, endpoint)
    assert told in str(caught.value)
    assert "hunter2" not in str(caught.value)
