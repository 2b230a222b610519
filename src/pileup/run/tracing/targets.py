"""The target that is traced: by its url, or by its name in a suite, launched where that says so."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pileup.model.errors import TargetError, UsageError
from pileup.model.suite import Credentials
from pileup.plugin import Target
from pileup.run.servers.supervisor import Supervisor
from pileup.suite import instances, load
from pileup.suite.quick import Endpoint
from pileup.suite.shipped import suite_path


@contextmanager
def opened(target: str, suite: str | None, kind: str | None, credentials: Mapping[str, str]) -> Iterator[Target]:
    """Yield a target by its url, or by its name in a suite; a launched one runs meanwhile.

    Raises UsageError for a name that the suite has not, SuiteError, TargetError when it does not start.
    """
    if suite is None:
        endpoint = Endpoint.at(target, kind, credentials)
        kind_of = instances.class_of_target(endpoint.kind, Path())
        kind_of.check_url(endpoint.url)
        yield kind_of(endpoint.url, Credentials(**dict(credentials)))
        return
    plan = load(suite_path(suite))
    if target not in plan.suite.targets:
        names = ", ".join(plan.suite.targets) or "a suite with targets"
        raise UsageError(f"{suite} has no target {target!r}", names, f"pileup validate {suite}")
    spec = plan.suite.targets[target]
    cls = instances.class_of_target(spec.kind, Path(plan.folder))
    if spec.launch is None:
        yield cls(spec.url or "", spec.credentials, **spec.options)
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
            yield cls(url, who, **spec.options)
        finally:
            supervisor.end_all()
