"""What each client that is not the engine says of a token that has expired: refused, with that cause."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.model.suite import Credentials
from pileup.plugin import Call, Cause, Keys, ProgramClient, Refused, Step, Target
from tests.servers.xrootd import Xrootd, xrootd
from tests.support import require_bindings, require_program

SECOND = 10**9
OPAQUE = "not-a-jwt"


class Counted:
    """An operation that is in no record."""

    bytes = calls = 0

    def first_byte(self) -> None:
        """Do nothing."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Xrootd]:
    """XRootD that gives access by tokens alone."""
    with xrootd(tmp_path_factory.mktemp("se"), authorization="tokens") as server:
        yield server


def expired() -> str:
    """Return a token that has expired long ago; nobody has signed it."""
    parts = ({"alg": "ES256"}, {"exp": 1_000_000_000}, {})
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)


def client_of(server: Xrootd, name: str, token: str, folder: Path) -> ProgramClient:
    file = folder / "token"
    file.write_text(token)
    who = Credentials(token_file=str(file))
    target: Target
    if name == "curl":
        target = WebDavTarget(server.http, who, client="curl")
    else:
        target = XrootdTarget(server.root, who, client=name)
    make = target.program_client()
    assert make is not None
    return make(0)


@pytest.mark.parametrize(("token", "cause"), [(expired(), Cause.TOKEN_EXPIRED), (OPAQUE, Cause.NONE)])
@pytest.mark.parametrize("name", ["curl", "bindings", "xrdcp"])
def test_a_client_knows_why_it_was_refused(server: Xrootd, name: str, token: str, cause: Cause, tmp_path: Path) -> None:
    if name == "bindings":
        require_bindings()
    else:
        require_program(name, "apt-get install curl xrootd-client")
    server.put("there", b"x")
    client = client_of(server, name, token, tmp_path)
    client.open()
    call = Call(Step("read", "read", Keys.fixed("there")), "there", Counted(), 10 * SECOND)  # type: ignore[arg-type]
    with pytest.raises(Refused) as refused:
        client.begin_read(call)
        list(client.read(call, 0, None))
    client.close()
    assert refused.value.cause is cause
