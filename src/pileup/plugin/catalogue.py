"""Catalogues: targets that know names, and where the files of these names are, but hold no files themselves."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from pileup.model.errors import Refused
from pileup.plugin.target import Target


class CatalogueTarget(Target):
    """A target that keeps names in scopes: data sets, files, replicas.

    On a catalogue that pileup did not launch, tests make names that begin with `context.own` alone. What begins so is
    removed at the end of the run, or by `pileup clean` after a crash, by one call of `purge`.
    """

    _framework: ClassVar[bool] = True
    provides: ClassVar[frozenset[str]] = frozenset({"any", "catalogue"})

    inside: str = ""
    """`limits.inside` of the suite, here /SCOPE or /SCOPE/PREFIX; empty: no limit. Set by pileup."""

    def check_inside(self, scope: str, name: str) -> None:
        """Raise Refused for a name that must not be changed: one outside `limits.inside` of the suite."""
        allowed, _, prefix = self.inside.strip("/").partition("/")
        if allowed and (scope != allowed or not name.startswith(prefix)):
            raise Refused(
                f"pileup does not change {scope}:{name}: it is outside {self.inside}",
                f"a name in scope {allowed}" + (f" that begins with {prefix}" if prefix else ""),
                "`limits.inside` of the suite is /SCOPE or /SCOPE/PREFIX for a catalogue",
            )

    @abstractmethod
    def purge(self, prefix: str) -> str:
        """Remove every name that begins so; return in words what stays and why, empty if nothing does.

        Raises a VerdictException when the catalogue does not answer.
        """
