"""What targets over a network can be told of their connections is declared once."""

import pytest

from pileup.builtin.credentials.connected_target import ConnectedTarget
from pileup.builtin.http.target import HttpTarget
from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin.options import declared

SHARED = {"reconnect_pause", "patience", "first_answer", "certificate_sha256", "insecure"}
DIGITS = "ab" * 32


@pytest.mark.parametrize("kind", [HttpTarget, WebDavTarget, XrootdTarget])
def test_every_kind_has_these_options_from_the_same_place(kind: type[ConnectedTarget]) -> None:
    shared = declared(ConnectedTarget)
    assert set(shared) == SHARED
    assert {name: found for name, found in declared(kind).items() if name in SHARED} == shared
    assert not SHARED & set(vars(kind))


@pytest.mark.parametrize("url, kind", [("https://127.0.0.1/", HttpTarget), ("roots://127.0.0.1//", XrootdTarget)])
def test_what_a_target_believes_is_told_to_its_client_and_said_in_the_record(
    url: str, kind: type[ConnectedTarget]
) -> None:
    for options, remarks in [
        ({}, 0),
        ({"insecure": True}, 1),
        ({"insecure": True, "certificate_sha256": DIGITS}, 0),
    ]:
        target = kind(url, **options)
        spec = target.client()
        assert spec is not None
        assert {name: value for name, value in spec.settings.items() if name in SHARED - {"reconnect_pause"}} == options
        assert len(target.remarks()) == remarks
