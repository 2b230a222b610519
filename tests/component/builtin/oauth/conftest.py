"""No test leaves a token that is renewed."""

from collections.abc import Iterator

import pytest

from pileup.builtin.oauth import renewal


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    for each in list(renewal._renewals.values()):
        each.stop()
    renewal._renewals.clear()
