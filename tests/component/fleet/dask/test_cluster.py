"""What is no Dask cluster, or one without workers."""

import socket
from collections.abc import Iterator

import pytest

from pileup.fleet.dask import cluster
from pileup.fleet.dask.cluster import connect
from pileup.model.errors import TargetError


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of something that says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


def test_what_is_silent_is_no_scheduler(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECTED_WITHIN", 0.5)
    with pytest.raises(TargetError, match=f"no Dask scheduler answers at {silent} within 0 s|1 s"):
        connect(silent)


def test_an_address_that_dask_does_not_know_is_told_at_once() -> None:
    with pytest.raises(TargetError, match="no Dask scheduler answers at foo://x: unknown address scheme 'foo'"):
        connect("foo://x")
