"""A message does not repeat the name of its operation, which stands in a column of its own."""

import pytest

from pileup.stats.errors import said


@pytest.mark.parametrize(
    ("message", "operation", "told"),
    [
        ("checksum: the server states no adler32", "checksum", "the server states no adler32"),
        ("checksum: checksum: it differs", "checksum", "it differs"),
        ("checksum of a: it differs", "checksum", "checksum of a: it differs"),
        ("503 Busy", "read", "503 Busy"),
        ("", "read", ""),
    ],
)
def test_the_name_is_left_out(message: str, operation: str, told: str) -> None:
    assert said(message, operation) == told
