"""An earlier run to hold another against: the newest beside it that passed, of the same suite on the same machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pileup.model.errors import RecordError
from pileup.model.manifest import Manifest
from pileup.model.verdict import RunVerdict
from pileup.record.folder import RunFolder

COMMIT, LABELS = "commit", "labels."
"""Values that say what is tested, and change nothing of the test."""


@dataclass(frozen=True, slots=True)
class Green:
    """A run that passed before another began."""

    path: Path
    run: Manifest
    same_suite: bool
    same_machine: bool

    @property
    def alike(self) -> bool:
        """Whether the two do the same, on the same machine."""
        return self.same_suite and self.same_machine


def last_green(folder: RunFolder) -> Green | None:
    """Return the newest run beside a run that passed before it began, of the same suite on the same machine.

    Where there is none, the newest that passed and has its title, if there is one. The same suite is the same text with
    the same values set but for `commit` and labels; the same machine has the same name and the same processors.
    """
    nearest = None
    for green in _greens(folder, folder.manifest()):
        if green.alike:
            return green
        nearest = nearest or green
    return nearest


def _greens(folder: RunFolder, run: Manifest) -> Iterator[Green]:
    """Yield the runs beside a run that passed before it began and have its title, the newest first."""
    for path in _newest_first(folder.path):
        with suppress(RecordError, OSError):
            other = RunFolder(path).manifest()
            if other.verdict is RunVerdict.PASSED and other.started < run.started and other.title == run.title:
                yield Green(path, other, _suite(other) == _suite(run), _machines(other) == _machines(run))


def _newest_first(run: Path) -> list[Path]:
    """Return the other folders beside a run, by when their run.json was last written, which the end of a run does."""
    found = []
    for path in run.parent.iterdir() if run.parent.is_dir() else ():
        with suppress(OSError):
            if path != run:
                found.append(((path / "run.json").stat().st_mtime_ns, path))
    return [path for _, path in sorted(found, reverse=True)]


def _suite(run: Manifest) -> tuple[str, Mapping[str, str]]:
    values = run.suite.values.items()
    return run.suite.text, {name: text for name, text in values if name != COMMIT and not name.startswith(LABELS)}


def _machines(run: Manifest) -> list[tuple[str, str, int | None]]:
    return [(host.name, host.cpu, host.cpus) for host in run.hosts]
