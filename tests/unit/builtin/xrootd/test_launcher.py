"""How XRootD is configured: a line for every setting, nothing secret where it stays, faults in words."""

import re
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.xrootd import launcher as module
from pileup.builtin.xrootd.launcher import xrootd_launcher
from pileup.plugin import Launcher


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda name, path: f"/usr/bin/{name}")


def launcher(**settings: Any) -> Launcher:
    return xrootd_launcher(settings, "root", "roots")


def configuration(**settings: Any) -> list[str]:
    (text,) = (file.content for file in launcher(**settings).files if file.path.endswith("xrootd.cfg"))
    assert isinstance(text, str)
    return text.splitlines()


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"checksum": "crc32c"}, "xrootd.chksum max 64 crc32c"),
        ({"threads": 64}, "xrd.sched mint 8 avlt 2 maxt 64 idle 60"),
        ({"throttle": 4, "bandwidth": "50 MB/s"}, "throttle.throttle concurrency 4 data 50000000"),
        ({"operations": "200 /s"}, "throttle.throttle iops 200"),
        ({"open_files": 100}, "throttle.max_open_files 100"),
        ({"connections": 50}, "throttle.max_active_connections 50"),
        ({"trace": True}, "xrootd.trace request"),
        ({"tls": True}, "xrd.tls {short}/certificate.pem {short}/key.pem"),
        ({"authorization": "macaroons"}, "ofs.authlib libXrdMacaroons.so"),
        ({"directives": ["xrd.timeout idle 5m"]}, "xrd.timeout idle 5m"),
    ],
)
def test_a_setting_is_a_line_of_the_configuration_that_is_not_there_without_it(
    settings: dict[str, Any], line: str
) -> None:
    assert line in configuration(**settings)
    assert line not in configuration()


def test_a_throttle_is_loaded_only_when_it_is_asked_for() -> None:
    assert "xrootd.fslib throttle default" in configuration(open_files=10)
    assert not [line for line in configuration() if "throttle" in line]


@pytest.mark.parametrize(
    ("settings", "url", "credentials"),
    [
        ({}, "root://127.0.0.1:{port}//data/", {}),
        ({"tls": True}, "roots://127.0.0.1:{port}//data/", {"ca": "{short}/ca.pem"}),
        ({"authorization": "tokens"}, "root://127.0.0.1:{port}//data/", {"token_file": "{short}/tokens"}),
    ],
)
def test_clients_hear_where_it_is_and_which_files_let_them_in(
    settings: dict[str, Any], url: str, credentials: dict[str, str]
) -> None:
    made = launcher(**settings)
    assert (made.url, made.credentials) == (url, credentials)


def test_webdav_has_the_same_server_at_another_url() -> None:
    made = WebDavTarget.launcher({"tls": "true"}, Path())
    assert made is not None
    assert made.url == "https://127.0.0.1:{port}/data/"


def test_keys_and_tokens_lie_in_the_folder_that_goes_with_the_server_and_stay_over_a_restart() -> None:
    for authorization in ("macaroons", "tokens"):
        for file in launcher(tls=True, authorization=authorization).files:
            assert file.path.startswith("{short}/")
            if file.content is not None and re.search(r"key|tokens$|macaroons$|sqllite|\.pem", file.path):
                assert file.keep
                assert not file.mode & 0o077


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"authorization": "passwords"}, "'none', 'macaroons' or 'tokens'"),
        ({"threads": 1}, "greater than or equal to 3"),
        ({"folder": "/there/is/no/such"}, "there is no folder /there/is/no/such; expected"),
        ({"directives": ["a\nb"]}, "several lines; expected one line for each"),
        ({"throttel": 1}, "throttel"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        launcher(**settings)


def test_it_says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda name, path: None)
    with pytest.raises(ValueError, match="xrootd is not installed here; expected it"):
        launcher()


def test_it_names_the_extra_that_tls_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pileup.builtin.credentials.private_ca", None)
    monkeypatch.delattr("pileup.builtin.credentials.private_ca", raising=False)
    with pytest.raises(ValueError, match=r"pip install 'pileup\[servers\]'"):
        launcher(tls=True)
    assert launcher().credentials == {}
