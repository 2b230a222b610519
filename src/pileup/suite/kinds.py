"""Kinds of targets by their urls: the kind follows from the url unless the suite sets it."""

from __future__ import annotations

from urllib.parse import urlsplit

from pileup.model.schemes import SCHEMES
from pileup.suite.formats.tree import Mapping, Scalar
from pileup.suite.problems import Problems, shown


def kind_by(url: str) -> str:
    """Return the kind of a target with this url; empty when the url does not say it."""
    scheme = _scheme(url)
    if not scheme and not url.startswith("/"):
        return ""
    return next((kind for kind, schemes in SCHEMES.items() if scheme in schemes), "")


def complete(tree: Mapping) -> None:
    """Write the kinds of targets that have a url and no kind into the tree."""
    targets = tree.entries.get("targets")
    for node in targets.entries.values() if isinstance(targets, Mapping) else ():
        url = node.entries.get("url") if isinstance(node, Mapping) else None
        if isinstance(node, Mapping) and "kind" not in node.entries and isinstance(url, Scalar):
            kind = kind_by(url.text)
            if kind:
                node.put("kind", url.at, Scalar(kind, True, url.at))


def follow(node: Mapping, url: Scalar) -> None:
    """Let the kind of a target follow a url that `--set` has given it in place of the server of another kind."""
    kind = node.entries.get("kind")
    if isinstance(kind, Scalar) and kind.text in SCHEMES and _scheme(url.text) not in SCHEMES[kind.text]:
        other = kind_by(url.text)
        if other:
            node.put("kind", url.at, Scalar(other, True, url.at))


def check_scheme(name: str, node: Mapping, problems: Problems) -> bool:
    """Add a problem when the url of a target is not one of its kind; return whether nothing is wrong so far."""
    kind, url = node.entries.get("kind"), node.entries.get("url")
    if not isinstance(kind, Scalar) or not isinstance(url, Scalar) or url.empty or kind.text not in SCHEMES:
        return True
    schemes = SCHEMES[kind.text]
    if _scheme(url.text) in schemes or not _scheme(url.text):
        return True  # what is not a url at all is reported when it is taken apart
    other = kind_by(url.text)
    expected = " or ".join(f"{scheme}://" for scheme in schemes[:2] if scheme)
    hint = f"write `kind: {other}`, or leave the kind out" if other else "correct the url"
    told = f"target {shown(name)} of kind {shown(kind.text)} has the url {shown(url.text)}"
    problems.add(url.at, told, f"a url that begins with {expected}", hint)
    return False


def _scheme(url: str) -> str:
    try:
        return urlsplit(url.strip()).scheme.lower()
    except ValueError:
        return ""
