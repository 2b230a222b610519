"""The target that is traced: by its url, or by its name in a suite, launched where that says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pileup._core._native import now
from pileup.model.errors import TargetError, UsageError
from pileup.model.manifest import RunState
from pileup.model.plan import Plan
from pileup.model.suite import Credentials
from pileup.plugin import Target
from pileup.record import RunFolder
from pileup.run.manifest import over
from pileup.run.manifest_start import first_manifest
from pileup.run.recovery import leftovers
from pileup.run.servers import scratch
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
    with kept(plan) as run:
        supervisor = Supervisor(run)
        folder = run.path / "servers" / target
        try:
            launcher = instances.make_launcher(plan, target, folder)
            if launcher is None:
                raise TargetError(f"target {target} cannot be started", "a target with a url")
            url = supervisor.launch(target, launcher, folder)
            who = spec.credentials.beside(supervisor.credentials(target))
            yield cls(url, who, **spec.options)
        finally:
            supervisor.end_all()


@contextmanager
def kept(plan: Plan) -> Iterator[RunFolder]:
    """Yield the folder of a run without cases, among the temporary files: after a crash the next start knows by it
    what is left, and removes that and the folder. Raises RecordError, OSError.
    """
    nonce, started = scratch.new_nonce(), now()
    base = scratch.make(nonce)
    run = RunFolder.create(base, "trace", started, nonce=nonce)
    run.save(over(replace(first_manifest(plan, started), cases=(), state=RunState.ENDED), started))
    held = leftovers.register(run, plan)
    try:
        yield run
    finally:
        leftovers.unregister(held)
        leftovers.remove_temporary(run)
