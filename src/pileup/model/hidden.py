"""What the record, plans and messages have in the place of a secret."""

from __future__ import annotations

HIDDEN = "(secret)"
