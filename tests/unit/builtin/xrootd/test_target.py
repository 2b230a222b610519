"""Urls, credentials and settings of XRootD targets; what goes over the wire is tested in contract/."""

from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.xrootd.location import place_of
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.model.suite import Credentials
from pileup.plugin import TargetError


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("root://se01.site.org//data/x/", "root://se01.site.org:1094//data/x"),
        ("xroot://se01:1095/data", "root://se01:1095//data"),
        ("roots://[::1]:1096//", "roots://[::1]:1096//"),
        ("xroots://me@se01", "roots://me@se01:1094//"),
        ("root://se01//data?svcClass=disk", "root://se01:1094//data?svcClass=disk"),
    ],
)
def test_urls_have_a_normal_form(url: str, normal: str) -> None:
    assert place_of(url).url == normal
    assert place_of(normal).url == normal


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("", "the target has no url; expected one like root://"),
        ("https://host/", "'https://host/' is not a url of an XRootD server"),
        ("root:///data", "is not a url of an XRootD server"),
        ("root://host:port//", "the url of host has the port 'port'; expected a number from 1 to 65535"),
        ("root://me:hunter2@host//", "the url of host holds a secret; expected it under `credentials`"),
        ("root://host//?authz=Bearer%20hunter2", "the url of host holds a secret"),
        ("root://host//#x", "has a fragment"),
    ],
)
def test_what_is_no_url_is_told_without_its_secret(url: str, told: str) -> None:
    with pytest.raises(TargetError) as caught:
        place_of(url)
    assert told in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_the_engine_gets_what_is_given_and_nothing_else() -> None:
    assert XrootdTarget("root://host//data").client().settings == {
        "url": "root://host:1094//data",
        "keep_alive": True,
        "page_checksums": False,
        "reconnect_pause": 10**9,
    }
    target = XrootdTarget(
        "roots://host//data",
        Credentials(token="abc", user="me"),
        keep_alive=False,
        page_checksums=True,
        read_ahead="8 MiB",
    )
    assert (target.client().protocol, target.client().settings) == (
        "xroot",
        {
            "url": "roots://host:1094//data",
            "keep_alive": False,
            "page_checksums": True,
            "reconnect_pause": 10**9,
            "read_ahead": 8 << 20,
            "token": "abc",
            "user": "me",
        },
    )


def test_a_file_with_a_token_is_named_so_that_the_engine_reads_it_again(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    settings = XrootdTarget("root://h//", Credentials(token_file=str(tmp_path / "token"))).client().settings
    assert (settings["token_file"], "token" in settings) == (str(tmp_path / "token"), False)


@pytest.mark.parametrize(
    ("credentials", "told"),
    [
        ({"proxy": "/tmp/x509up_u0"}, "works through the official client only; expected `client: bindings`"),
        ({"password": "x", "user": "me"}, "a password or a certificate, which root:// does not take"),
        ({"certificate": "/x"}, "a password or a certificate, which root:// does not take"),
        ({"token": "a b"}, "characters that no token has"),
        ({"ca": "/nonsuch"}, "ca /nonsuch cannot be read"),
    ],
)
def test_credentials_that_root_does_not_take_are_refused(credentials: dict[str, Any], told: str) -> None:
    with pytest.raises(TargetError) as caught:
        XrootdTarget("root://host//", Credentials(**credentials)).client()
    assert told in str(caught.value)


def test_settings_of_the_client_show_no_secret() -> None:
    assert "abc" not in repr(XrootdTarget("roots://h//", Credentials(token="abc")).client())
