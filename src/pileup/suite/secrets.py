"""Which values of a suite are secret, and its text without them: what reaches the record.

A value is secret by its type (an option of a plug-in declared as `SecretStr`, alone or inside a mapping), because it is
a variable of an `environment`, or by the last word of its name (`db_password`, `X-Api-Key`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Values
from pathlib import Path as Folder
from typing import Any, get_args

from pydantic import BaseModel, SecretStr

from pileup.model.hidden import HIDDEN
from pileup.model.surroundings import DISCOVER
from pileup.plugin.options import declared
from pileup.suite import instances
from pileup.suite.formats.tree import Mapping, Node, Path, Scalar, Sequence, child, walk, where
from pileup.suite.problems import Position

SUFFIXES = (
    *("token", "password", "passwd", "passphrase", "pwd", "secret", "authorization", "cookie", "credential"),
    *("secret_key", "secretkey", "access_key", "accesskey", "private_key", "api_key", "apikey", "auth_key"),
)
"""Ends of names whose values are secret wherever they are: second net below the types."""
OF_ANY = frozenset({"credentials", "headers", "launch", "password", "token"})
"""Words whose values may be secret in whatever plug-in."""
ENVIRONMENT, SOURCE = "environment", "source"
SHORTEST = 4
"""A secret of fewer characters is hidden where it is defined; elsewhere it would blot out common letters."""
IN_XML = {"&": "&(?:amp;)?", "<": "(?:<|&lt;)", ">": "(?:>|&gt;)", '"': '(?:"|&quot;)', "'": "(?:'|&apos;)"}
"""How characters may be in a file, as they are or as XML writes them."""


class Secrets:
    """The secret scalars of a tree whose variables are filled in.

    `typed` are the names of options that are secret by their type: see `secret_options`.
    """

    def __init__(self, tree: Mapping, typed: frozenset[str] = frozenset()) -> None:
        self._tree, self._typed = tree, typed
        known = [(path, scalar) for path, scalar in walk(tree) if self._is_secret(path) and not _open(scalar)]
        found = [scalar for path, scalar in known if not _in_place(path)]
        names = {name for scalar in found for name in scalar.variables}
        self.variables = frozenset(names | {path[-1] for path, _ in known if path[0] == "variables"})
        """Names of the variables that secrets are made from."""
        self.scanned = tuple(scalar.at for path, scalar in known if path[0] == "scan")
        """Where secrets are values of axes: those are in the record, so there may be none."""
        found += [scalar for path, scalar in walk(tree) if path[0] == "variables" and path[-1] in names]
        spans = {scalar.span for scalar in (*found, *(scalar for _, scalar in known))}
        self._spans = sorted(spans - {(0, 0)}, reverse=True)
        texts = sorted({scalar.text for scalar in found if len(scalar.text) >= SHORTEST}, key=len, reverse=True)
        self._texts = [re.compile("".join(IN_XML.get(sign, re.escape(sign)) for sign in text)) for text in texts]

    def places_of(self, names: Iterable[str]) -> Iterator[Position]:
        """Yield where those of some variables of the scan are named that secrets are made from."""
        for name in names:
            if name in self.variables:
                yield where(self._tree, ("scan", name), key=True)

    def hide(self, text: str) -> str:
        """Return the file's text with every secret replaced."""
        for start, end in self._spans:
            text = text[:start] + HIDDEN + text[end:]
        return self._blot(text)

    def lines_of(self, text: str) -> frozenset[int]:
        """Return the numbers of the lines of the file's text, from 1, that hold a secret or a part of one."""
        starts = [0, *(found.end() for found in re.finditer("\n", text))]
        spans = [*self._spans, *(found.span() for secret in self._texts for found in secret.finditer(text))]
        return frozenset(
            line
            for start, end in spans
            for line in range(bisect_right(starts, start), bisect_right(starts, max(start, end - 1)) + 1)
        )

    def hide_values(self, values: Values[str, str]) -> dict[str, str]:
        """Return what `--set` gave with every secret replaced."""
        return {name: HIDDEN if self._hidden(name, value) else self._blot(value) for name, value in values.items()}

    def _hidden(self, name: str, value: str) -> bool:
        steps = tuple(name.split("."))
        named = name in self.variables or "credentials" in steps or self._is_secret(steps) or steps[-1] == ENVIRONMENT
        return named and value != DISCOVER

    def _is_secret(self, path: Path) -> bool:
        """Return whether what is at a path is secret, whatever it is."""
        # an axis of a scan is called `test.option`
        words = [part for word in path if isinstance(word, str) for part in word.split(".")]
        if words[:1] == ["scan"] and ENVIRONMENT in words:
            return by_name(words[-1])  # points are known by their values: plain variables are not secrets here
        return bool(words) and (by_name(words[-1]) or not self._typed.isdisjoint(words) or _in_place(path))

    def _blot(self, text: str) -> str:
        for secret in self._texts:
            text = secret.sub(HIDDEN, text)
        return text


def by_name(name: str) -> bool:
    """Return whether a name says that its value is secret."""
    return name.lower().replace("-", "_").endswith(SUFFIXES)


def _in_place(path: Path) -> bool:
    """Return whether a value is a plain variable of an environment: hidden there, and left alone elsewhere."""
    return ENVIRONMENT in path[:-1] and path[-1] != SOURCE and not by_name(str(path[-1]))


def _open(scalar: Scalar) -> bool:
    """Whether a value where secrets are is none: left out, or the word that looks for the user's own."""
    return scalar.empty or scalar.text == DISCOVER


def secret_options(tree: Mapping, folder: Folder) -> frozenset[str]:
    """Return the names of options, of all plug-ins of a valid suite, whose type is secret."""
    found: set[str] = set()
    for cls in _plugins(tree, folder):
        hints = {name: hint for name, (hint, _) in declared(cls).items()}
        hints["launch"] = getattr(cls, "launch_settings", None)
        found.update(name for name, hint in hints.items() for name in _secret_names(name, hint))
    return frozenset(found)


def known_secret_options(tree: Mapping, folder: Folder) -> frozenset[str]:
    """Return the same of a suite that need not be valid: what cannot be loaded adds the names of all that is secret."""
    try:
        return secret_options(tree, folder) | OF_ANY
    except Exception:  # reported where the plug-in is checked
        return OF_ANY


def _plugins(tree: Mapping, folder: Folder) -> Iterator[type]:
    for kind, section, word in (
        ("tests", "tests", "use"),
        ("monitors", "monitors", "use"),
        ("reports", "reports", "use"),
        ("targets", "targets", "kind"),
    ):
        names = {
            found.text for item in _items(tree.entries.get(section)) if isinstance(found := child(item, word), Scalar)
        }
        yield from (instances.plugin_class(kind, name, folder) for name in sorted(names))


def _items(node: Node | None) -> Iterable[Node]:
    match node:
        case Mapping():
            return node.entries.values()
        case Sequence():
            return node.items
    return ()


def _secret_names(name: str, hint: Any) -> Iterator[str]:
    """Yield the names below an annotated option that are secret; the option's own when it, or what it holds, is."""
    if is_secret(hint):
        yield name
    elif isinstance(hint, type) and issubclass(hint, BaseModel):
        for inner, field in hint.model_fields.items():
            yield from _secret_names(field.alias or inner, field.annotation)
    else:
        for part in get_args(hint):
            yield from _secret_names(name, part)


def is_secret(hint: Any) -> bool:
    """Return whether a type is that of a secret, or of a collection of such."""
    return hint is SecretStr or any(map(is_secret, get_args(hint)))
