"""Text for XML files."""

from __future__ import annotations

import re

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot say, even escaped (https://www.w3.org/TR/xml/#charsets)."""


def clean(text: str) -> str:
    """Return text without what XML cannot say."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
