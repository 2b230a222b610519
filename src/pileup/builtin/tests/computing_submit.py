"""Submit jobs to a batch system or a computing element."""

from __future__ import annotations

import random
import secrets

from pileup.model.law import TimeLaw
from pileup.plugin import Count, Op, Refused, Test, option
from pileup.plugin.batch import JobSpec, Submission


class ComputingSubmit(Test):
    """Submit jobs, and leave them to whoever watches.

    One iteration is one request, with `batch` jobs in it. It is refused when the system takes none of them and
    ambiguous when no answer comes; nothing is tried again. Every job has a name that no other has, in this run or any
    other. Each that is acknowledged is from then on a detached operation `job`, and waits as the operation `queue`;
    `computing.poll` in the same run sees when it begins (operation `run`) and how it ends. What is still open at the
    end of the run is unfinished. Jobs refused from a request of which others were taken are counted as `refused_jobs`.
    """

    name = "computing.submit"
    needs = "batch"

    duration: TimeLaw = option("10 s", help="how long a job runs, e.g. `60 s` or `{uniform: [30 s, 90 s]}`")
    batch: Count = option(1, ge=1, le=100_000, help="jobs in one request")
    prefix: str = option("pileup", pattern=r"^[A-Za-z0-9_.-]{1,60}$", help="how the names of the jobs begin")
    user: str = option("", help="whom they are submitted for, where the system lets one say so")

    def setup(self) -> None:
        """Draw what makes the names of this client's jobs its own."""
        self._token = secrets.token_hex(5)

    def run(self, op: Op) -> None:
        """Submit once."""
        jobs = self._jobs(op.number)
        with op("submit", jobs[0].name) as submission:
            submission.calls = 1
            answers = self.target.submit(jobs)
            _refuse_if_none(answers)
        taken = [answer for answer in answers if answer.id]
        for answer in taken:
            op.begin("queue", answer.name)
            op.begin("job", answer.name)  # last: who sees the job may end both
        if len(taken) < len(answers):
            self.report("refused_jobs", len(answers) - len(taken))

    def _jobs(self, number: int) -> list[JobSpec]:
        """The jobs of one iteration; how long they run depends on the seed, the test and their numbers alone."""
        source = random.Random(f"{self.context.seed} {self.context.name} {number}")
        stem = f"{self.prefix}-{self._token}-{number}"
        names = [stem] if self.batch == 1 else [f"{stem}.{place}" for place in range(self.batch)]
        return [JobSpec(name, self.duration.draw(source), user=self.user) for name in names]

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """The submission, and for each job three operations."""
        return iterations * (1 + 3 * self.batch), 0


def _refuse_if_none(answers: list[Submission]) -> None:
    """Raise Refused when no job was taken."""
    if answers and not any(answer.id for answer in answers):
        raise Refused(answers[0].refused)
