"""Which values of a suite are secret, and its text without them: what reaches the record."""

from __future__ import annotations

import re
from collections.abc import Mapping as Values

from pileup.model.surroundings import DISCOVER
from pileup.suite.tree import Mapping, Path, Scalar, walk

HIDDEN = "(secret)"
WORDS = frozenset({"token", "password", "passphrase", "secret"})
"""Words whose values are secret wherever they stand, and names of variables that are."""
SHORTEST = 4
"""A secret of fewer characters is hidden where it is defined; elsewhere it would blot out common letters."""
IN_XML = {"&": "&(?:amp;)?", "<": "(?:<|&lt;)", ">": "(?:>|&gt;)", '"': '(?:"|&quot;)', "'": "(?:'|&apos;)"}
"""How characters may stand in a file, as they are or as XML writes them."""


class Secrets:
    """The secret scalars of a tree whose variables are filled in."""

    def __init__(self, tree: Mapping) -> None:
        found = [scalar for path, scalar in walk(tree) if _secret(path) and not _open(scalar)]
        names = {name for scalar in found for name in scalar.variables}
        self.variables = frozenset(names)
        """Names of the variables that secrets are made from."""
        found += [scalar for path, scalar in walk(tree) if path[0] == "variables" and path[-1] in names]
        self._spans = sorted({scalar.span for scalar in found if scalar.span != (0, 0)}, reverse=True)
        texts = sorted({scalar.text for scalar in found if len(scalar.text) >= SHORTEST}, key=len, reverse=True)
        self._texts = [re.compile("".join(IN_XML.get(sign, re.escape(sign)) for sign in text)) for text in texts]

    def hide(self, text: str) -> str:
        """Return the file's text with every secret replaced."""
        for start, end in self._spans:
            text = text[:start] + HIDDEN + text[end:]
        return self._blot(text)

    def hide_values(self, values: Values[str, str]) -> dict[str, str]:
        """Return what `--set` gave with every secret replaced."""
        return {name: HIDDEN if self._hidden(name, value) else self._blot(value) for name, value in values.items()}

    def _hidden(self, name: str, value: str) -> bool:
        steps = name.split(".")
        named = name in self.variables or "credentials" in steps or steps[-1] in WORDS
        return named and value != DISCOVER

    def _blot(self, text: str) -> str:
        for secret in self._texts:
            text = secret.sub(HIDDEN, text)
        return text


def _secret(path: Path) -> bool:
    return bool(path) and path[-1] in WORDS


def _open(scalar: Scalar) -> bool:
    """Whether a value where secrets stand is none: left out, or the word that looks for the user's own."""
    return scalar.empty or scalar.text == DISCOVER
