"""Fixtures for the tests of targets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from dav_server import DavServer, serving


@pytest.fixture
def dav() -> Iterator[DavServer]:
    """A WebDAV server of this test's own."""
    with serving() as server:
        yield server
