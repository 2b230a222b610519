"""What pileup knows of jobs at a computing element: names, owners, and what became of those that it has purged."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from pileup.plugin.batch import Job


@dataclass(frozen=True, slots=True)
class Entry:
    """A job by its id: the service reports names only when it is asked for each."""

    id: str
    name: str
    user: str
    """Whose it is; "": who we are for the target."""


class JobIndex:
    """The jobs known in this process. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._ids: defaultdict[str, list[str]] = defaultdict(list)
        self._ended: dict[str, Job] = {}
        self._seen: set[str] = set()

    def note(self, entries: Iterable[Entry]) -> None:
        """Remember jobs; who is known stays as it was, but for one whose name the service did not know yet."""
        with self._lock:
            for entry in entries:
                if entry.name and entry.id not in self._entries:
                    self._entries[entry.id] = entry
                    self._ids[entry.name].append(entry.id)

    def note_ended(self, jobs: Iterable[Job]) -> None:
        """Remember how jobs ended that the service will soon know nothing of."""
        with self._lock:
            self._ended |= {job.id: job for job in jobs}

    def note_seen(self, ids: Iterable[str]) -> None:
        """Remember that the service knew jobs when it was asked."""
        with self._lock:
            self._seen.update(ids)

    def seen(self, job: str) -> bool:
        """Whether the service has ever known a job here."""
        with self._lock:
            return job in self._seen

    def entry(self, job: str) -> Entry:
        """Return what is known of an id; whose it is, is a guess (ours) for one that is not known."""
        with self._lock:
            return self._entries.get(job) or Entry(job, "", "")

    def known(self, job: str) -> bool:
        """Whether the name of an id is known."""
        with self._lock:
            return job in self._entries

    def ids(self, name: str) -> list[str]:
        """Return the ids of the jobs of a name."""
        with self._lock:
            return list(self._ids.get(name, ()))

    def ended(self, names: Iterable[str]) -> list[Job]:
        """Return the purged jobs of these names."""
        found = []
        with self._lock:
            for name in names:
                found += [self._ended[each] for each in self._ids.get(name, ()) if each in self._ended]
        return found

    def purged(self, job: str) -> Job | None:
        """Return how a job ended that was purged, by its id."""
        with self._lock:
            return self._ended.get(job)

    def users(self) -> set[str]:
        """Return whose jobs there are."""
        with self._lock:
            return {entry.user for entry in self._entries.values()}
