"""Names and labels from elsewhere, in the form in which checks can name them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_NOT_IN_VALUES = re.compile(r"[,=\[\]\x00-\x1f\x7f]")


def checkable_name(text: str) -> str:
    """Return a name in which whatever is not a letter, digit, `-` or `_` has become `_`."""
    return _NOT_IN_NAMES.sub("_", text)


def checkable_labels(labels: Mapping[str, str]) -> str:
    """Return labels as samples have them: sorted, those without a value left out, `,=[]` of values become `_`."""
    given = {checkable_name(name): _NOT_IN_VALUES.sub("_", value).strip() for name, value in labels.items()}
    return ",".join(f"{name}={value}" for name, value in sorted(given.items()) if value)
