"""The target that is traced: by its url, or by its name in a suite, launched where that says so."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pileup.model.errors import TargetError, UsageError
from pileup.model.suite import Credentials, TargetSpec
from pileup.plugin import Target
from pileup.plugin.options import declared
from pileup.run.servers.supervisor import Supervisor
from pileup.suite import instances, load
from pileup.suite.quick import Endpoint
from pileup.suite.shipped import suite_path


@dataclass(frozen=True, slots=True)
class Found:
    """A target that is there: what makes it, with a session for each operation."""

    kind: type[Target]
    url: str
    spec: TargetSpec

    def made(self, via: str, *, resume: bool = False) -> Target:
        """Return the target as clients see it that connect to `via`. Raises TargetError where no relay can be."""
        if not self.kind.relayed:
            raise TargetError(
                f"kind {self.kind.kind!r} has no connection to trace",
                "a url over http, https or root",
                "or HOST:PORT -- COMMAND, for any client of TCP",
            )
        options = {**self.spec.options, "keep_alive": False}
        if resume:
            options["resume"] = True
        known = declared(self.kind)
        if resume and "resume" not in known:
            raise TargetError(f"kind {self.kind.kind!r} resumes no sessions of TLS", "a url over https, or no --resume")
        target = self.kind(
            self.url, self.spec.credentials, **{name: each for name, each in options.items() if name in known}
        )
        target.via = via
        return target


@contextmanager
def opened(target: str, suite: str | None, kind: str | None, credentials: Mapping[str, str]) -> Iterator[Found]:
    """Yield a target by its url, or by its name in a suite; a launched one runs meanwhile.

    Raises UsageError for a name that the suite has not, SuiteError, TargetError when it does not start.
    """
    if suite is None:
        endpoint = Endpoint.at(target, kind, credentials)
        spec = TargetSpec(kind=endpoint.kind, url=endpoint.url, credentials=Credentials(**dict(credentials)))
        found = Found(instances.class_of_target(endpoint.kind, Path()), endpoint.url, spec)
        found.kind.check_url(endpoint.url)
        yield found
        return
    plan = load(suite_path(suite))
    if target not in plan.suite.targets:
        names = ", ".join(plan.suite.targets) or "a suite with targets"
        raise UsageError(f"{suite} has no target {target!r}", names, f"pileup validate {suite}")
    spec = plan.suite.targets[target]
    cls = instances.class_of_target(spec.kind, Path(plan.folder))
    if spec.launch is None:
        yield Found(cls, spec.url or "", spec)
        return
    supervisor = Supervisor()
    with tempfile.TemporaryDirectory(prefix="pileup-trace-") as made:
        folder = Path(made) / target
        try:
            launcher = instances.make_launcher(plan, target, folder)
            if launcher is None:
                raise TargetError(f"target {target} cannot be started", "a target with a url")
            url = supervisor.launch(target, launcher, folder)
            who = spec.credentials.beside(supervisor.credentials(target))
            yield Found(cls, url, spec.model_copy(update={"credentials": who}))
        finally:
            supervisor.end_all()
