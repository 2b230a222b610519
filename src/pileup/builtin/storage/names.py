"""Files that pileup has not written: named one by one, in a file, or by patterns looked up in their folder."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property

from pileup.builtin.storage.files import FileSet, clean_path
from pileup.plugin import Failed, FileTarget, Keys, option

WILD = frozenset("*?[")


class NamedSet(FileSet):
    """Base of the tests that also take files which pileup has not written."""

    names: list[str] = option(
        [],
        help="names of existing files to use instead of the set, in `folder`, which is then below the url of "
        "the target itself; a pattern like `*.root` is expanded when the test begins",
    )
    names_from: str = option("", help="file with such names, one per line; relative to the suite")

    def keys(self) -> Keys:
        """Return the files of the set, or those named."""
        if not self.named:
            return super().keys()
        return replace(Keys(names=self.found), order=self.order)

    def set_size(self) -> int:
        """Return how many files are in the set, or named."""
        return len(self.found) if self.named else self.files

    @property
    def named(self) -> bool:
        """Whether the files are not those of the set."""
        return bool(self.names or self.names_from)

    @cached_property
    def found(self) -> tuple[str, ...]:
        """Names of the files that are there, relative to the target; before the run patterns as they are.

        Raises ValueError for a list that cannot be read, Failed when nothing matches a pattern.
        """
        given = [clean_path(f"{self.folder}/{name}") for name in (*self.names, *self._listed())]
        if not isinstance(self.target, FileTarget):
            return tuple(given)
        return tuple(name for each in given for name in (self._matches(each) if WILD & set(each) else [each]))

    def _listed(self) -> list[str]:
        if not self.names_from:
            return []
        path = self.context.folder / self.names_from
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as problem:
            raise ValueError(
                f"the list {path} cannot be read ({problem}); expected a file with a name a line"
            ) from None
        found = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        if not found:
            raise ValueError(f"the list {path} holds no name; expected one a line")
        return found

    def _matches(self, pattern: str) -> list[str]:
        folder, _, last = pattern.rpartition("/")
        entries = [each.name for each in self.target.list(folder) if not each.folder]
        found = [f"{folder}/{name}".lstrip("/") for name in entries if fnmatchcase(name, last)]
        if not found:
            raise Failed(
                f"no file in {folder!r} matches {last!r}",
                "one or more",
                f"files of other names there: {len(entries)}",
            )
        return found
