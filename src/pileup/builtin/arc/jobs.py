"""Jobs at a computing element, looked up: by id or name, whoever of pileup's users they belong to."""

from __future__ import annotations

import datetime
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus

from pileup.builtin.arc.accounting import Accounting
from pileup.builtin.arc.control_folder import Control
from pileup.builtin.arc.known_jobs import Entry, JobIndex
from pileup.builtin.arc.users import Users
from pileup.builtin.arc.words import ASKED, CANCELLED, HANDED_OVER, WAITS, WIPED
from pileup.plugin.batch import Job, JobState

SECOND = 10**9
FRESH = 2.0
"""For how long what was learned of other clients' jobs need not be learned again, s."""
AGAIN = 0.2
"""A job whose state is being written is for a moment in no list: who must not be missed is looked for again after so
long, s."""
PURGED = "purged by others before its end was seen"
TRIES = (0.0, AGAIN, 5 * AGAIN)
"""Pauses before further looks, s."""


class Jobs:
    """Looks jobs up, and acts on them as their owners. Raises Failed, Refused, Ambiguous as the service answers."""

    def __init__(self, users: Users, accounting: Accounting | None) -> None:
        self.users = users
        self.book = JobIndex()
        self._accounting = accounting
        private = users.private
        places = (private.control, private.begun, private.squeue, private.slurm_conf) if private else None
        self._control = Control(*places) if places else None
        self._learned = float("-inf")
        self._lock = threading.Lock()

    def learn(self, *, now: bool = False) -> None:
        """Ask for the names of all jobs that pileup's users have there and that are not known here.

        Not twice within 2 s; unless it should be now, and then twice: see AGAIN.
        """
        with self._lock:
            if not now and time.monotonic() - self._learned < FRESH:
                return
            self._learn()
            if now:
                time.sleep(AGAIN)
                self._learn()
            self._learned = time.monotonic()

    def _learn(self) -> None:
        for user in self._everybody():
            self.name(user, self.users.rest(user).ids())

    def name(self, user: str, ids: Iterable[str]) -> None:
        """Ask for the names of a user's jobs that are not known here."""
        new = [each for each in ids if not self.book.known(each)]
        told = self.users.rest(user).act("info", new) if new else ()
        self.book.note(Entry(str(one["id"]), _name(one), user) for one in told if _code(one) == HTTPStatus.OK)

    def look_up(self, ids: Iterable[str]) -> list[Job]:
        """Return the jobs of these ids as they are now; those that nobody knows are left out."""
        return [job for user, some in self._by_user(ids).items() for job in self._of(user, some)]

    def ended(self) -> Iterator[Job]:
        """Yield all jobs that have ended and were not purged, the names of those of others than this process empty."""
        for user in self._everybody():
            words = self.users.rest(user).states()
            over = [each for each, word in words.items() if ASKED[word].final]
            yield from self._dated([self._job(each, ASKED[words[each]], user) for each in over])

    def counts(self) -> dict[JobState, int]:
        """Return how many jobs of pileup's users there are in each state: one list for each of them.

        Of a private service all jobs, by its files. A list calls failed what was cancelled.
        """
        if self._control is not None:
            return self._control.counts()
        found: Counter[JobState] = Counter()
        for user in self._everybody():
            words = self.users.rest(user).states()
            inside = [each for each, word in words.items() if word == HANDED_OVER]
            waiting = sum(word in WAITS for word in self._told(user, inside).values())
            found.update(ASKED[word] for word in words.values() if word != HANDED_OVER)
            found.update({JobState.RUNNING: len(inside) - waiting, JobState.QUEUED: waiting})
        return dict(found)

    def act(self, action: str, ids: Iterable[str]) -> list[str]:
        """Do something to jobs; return the ids of those that it was accepted for."""
        done = []
        for user, some in self._by_user(ids).items():
            told = self.users.rest(user).act(action, some)
            done += [str(one["id"]) for one in told if _code(one) == HTTPStatus.ACCEPTED]
        return done

    def unaccounted(self, names: Iterable[str]) -> list[Job]:
        """Return jobs that have ended without an entry in the accounting of a private service.

        A-REX writes none for a job that is cancelled before it was taken up.
        """
        if self._control is None or self._accounting is None:
            return []
        ended = self._control.ended(each for name in names for each in self.book.ids(name))
        known = self._accounting.submitted(list(ended)) if ended else {}
        missing = [each for each in ended if each not in known]
        return [replace(job, ended=ended[job.id]) for job in self.look_up(missing) if job.state.final]

    def executions(self, ids: Iterable[str]) -> dict[str, int]:
        """Return id -> how often a job has begun on a node, as the nodes of a private service have noted."""
        return self._control.executions(ids) if self._control is not None else {}

    def explained(self, jobs: Iterable[Job]) -> list[Job]:
        """Return jobs with the reasons of those that failed, each asked for by itself; one that was killed is so."""
        return [self._explained(job) if job.state is JobState.FAILED else job for job in jobs]

    def timed(self, jobs: Iterable[Job]) -> list[Job]:
        """Return jobs with the times of those that have ended, by what the service has written down of each."""
        return [self._timed(job) if job.state.final else job for job in jobs]

    def _timed(self, job: Job) -> Job:
        rest = self.users.rest(job.user)
        local, diagnosis = rest.facts(job.id, "local"), rest.facts(job.id, "diag")
        times = times_of(job.state, local, diagnosis)
        return replace(job, submitted=times["submitted"], started=times["started"], ended=times["ended"])

    def _everybody(self) -> list[str]:
        return sorted(self.users.names() | self.book.users())

    def _by_user(self, ids: Iterable[str]) -> dict[str, list[str]]:
        found = defaultdict(list)
        for each in ids:
            found[self.book.entry(each).user].append(each)
        return found

    def _of(self, user: str, ids: list[str]) -> list[Job]:
        """Return jobs of one user."""
        words = self.users.rest(user).states()
        missing = [each for each in ids if each not in words]
        words |= self._found_again(user, missing)
        inside = [each for each in ids if words.get(each) == HANDED_OVER]
        words |= {each: word for each, word in self._told(user, inside).items() if word in WAITS}
        known = [each for each in ids if words.get(each) in ASKED]
        self.book.note_seen(known)
        return self._dated([self._job(each, ASKED[words[each]], user) for each in known])

    def _told(self, user: str, ids: Sequence[str]) -> dict[str, str]:
        """Return what the service says of jobs one by one, which may be late; "" of those that it does not know."""
        told = self.users.rest(user).act("status", ids)
        return {str(one["id"]): str(one["state"]) if _code(one) == HTTPStatus.OK else "" for one in told}

    def _found_again(self, user: str, ids: Sequence[str]) -> dict[str, str]:
        """Return the states of jobs that were in no list, without those that are in none.

        A job whose daemon was killed between two states has none any more: it never runs, is in no list, and is
        called ACCEPTED all the same when it is asked for. Nobody knows of it but its first file.
        """
        found: dict[str, str] = {}
        missing = list(ids)
        for pause in TRIES if missing else ():
            time.sleep(pause)
            words = self.users.rest(user).states()
            found |= {each: words[each] for each in missing if each in words}
            missing = [each for each in missing if each not in words]
            if not missing or (pause and not any(self._told(user, missing).values())):
                break
        return found

    def gone(self, ids: Iterable[str]) -> set[str]:
        """Return which of these jobs, of which there is no state, the service knew once and has nothing of any more."""
        return {
            each
            for user, some in self._by_user(filter(self.book.seen, ids)).items()
            for each, word in self._told(user, some).items()
            if word in ("", WIPED)
        }

    def purged_by_others(self, ids: Iterable[str]) -> list[Job]:
        """Return jobs that somebody has taken out before their end was seen here: how they ended nobody knows."""
        mine = [each for each in ids if self.book.purged(each) is None]
        entries = [self.book.entry(each) for each in self.gone(mine)]
        return [Job(each.name, each.id, JobState.CANCELLED, reason=PURGED, user=each.user) for each in entries]

    def _job(self, job: str, state: JobState, user: str) -> Job:
        return Job(self.book.entry(job).name, job, state, user=user)

    def _dated(self, jobs: list[Job]) -> list[Job]:
        """Return jobs with the time of submission that the accounting has, by which they are the same there."""
        if self._accounting is None or not jobs:
            return jobs
        times = self._accounting.submitted([job.id for job in jobs])
        return [replace(job, submitted=times.get(job.id, 0)) for job in jobs]

    def _explained(self, job: Job) -> Job:
        purged = self.book.purged(job.id)
        if purged is not None:  # nobody else knows the reason
            return replace(job, state=purged.state, reason=purged.reason)
        told = self.users.rest(job.user).failure(job.id)
        state = JobState.CANCELLED if CANCELLED in told else job.state
        return replace(job, state=state, reason=told or job.reason)


def times_of(state: JobState, local: Mapping[str, str], diagnosis: Mapping[str, str]) -> dict[str, int]:
    """Return when a job that has ended was submitted, started and ended, in ns since the epoch, 0 where nobody says so.

    What should be cleaned up a lifetime after its end has ended a lifetime before that.
    """
    begun, over = (diagnosis.get(f"lrms{word}time", "") for word in ("start", "end"))
    never = state is JobState.CANCELLED and begun == over  # what was cancelled while it waited
    clean, lifetime = _moment(local.get("cleanuptime", "")), local.get("lifetime", "")
    ended = clean - int(lifetime) * SECOND if clean and lifetime.isdigit() else 0
    return {
        "submitted": _moment(local.get("starttime", "")),
        "started": 0 if never else _moment(begun),
        "ended": max(ended, 0),
    }


def _moment(text: str) -> int:
    """Return a time as A-REX writes it, such as 20261121181943Z, in ns since the epoch; 0 for anything else."""
    try:
        read = datetime.datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=datetime.UTC)
    except ValueError:
        return 0
    return int(read.timestamp()) * SECOND


def _code(one: dict[str, object]) -> int:
    """Return the status of one job in an answer about several, 0 for none."""
    text = str(one.get("status-code", ""))
    return int(text) if text.isascii() and text.isdigit() else 0


def _name(one: dict[str, object]) -> str:
    """Return the name of a job in what is reported about it, "" for none."""
    document = one.get("info_document")
    activity = document.get("ComputingActivity") if isinstance(document, dict) else None
    return str(activity.get("Name") or "") if isinstance(activity, dict) else ""
