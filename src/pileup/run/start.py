"""What is to be run, and where its record goes: of what a user named, and of the user's environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pileup.model.errors import UsageError
from pileup.suite.shipped import suite_path

if TYPE_CHECKING:
    from pileup.model.plan import Plan


def planned(
    suite: str,
    values: Mapping[str, str],
    fleet: str | None,
    environment: Mapping[str, str],
    *,
    simulated: bool = False,
) -> Plan:
    """Return the plan of a suite (a file, or `suite:NAME`) with values set; `simulated`: for virtual time.

    Raises SuiteError and UsageError.
    """
    from pileup.suite import load  # noqa: PLC0415  where runs are can be known without it

    given = {**values, **({"places": fleet} if fleet else {})}
    return with_ssh(load(suite_path(suite), given, servers=not simulated), environment)


def with_ssh(plan: Plan, environment: Mapping[str, str]) -> Plan:
    """Return the plan with the ssh command of $PILEUP_SSH, unless the suite names one."""
    command, places = environment.get("PILEUP_SSH"), plan.suite.places
    if not command or places.command:
        return plan
    changed = places.model_copy(update={"command": command})
    return replace(plan, suite=plan.suite.model_copy(update={"places": changed}))


def runs_path(out: Path | None, environment: Mapping[str, str]) -> Path:
    """Return where run folders are, whether or not it is there."""
    return out or Path(environment.get("PILEUP_RUNS") or "runs")


def runs_folder(out: Path | None, environment: Mapping[str, str]) -> Path:
    """Return the folder that run folders go to, made when it is not there. Raises UsageError."""
    folder = runs_path(out, environment)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UsageError(
            f"runs cannot be written to {folder}: {problem.strerror}", "a folder you may write to", "--out DIR"
        ) from problem
    return folder
