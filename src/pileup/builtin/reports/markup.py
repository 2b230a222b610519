"""Text for XML files."""

from __future__ import annotations

import re

NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 cannot say, even escaped (https://www.w3.org/TR/xml/#charsets): all others take long to compile."""


def clean(text: str) -> str:
    """Return text without what XML cannot say."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
