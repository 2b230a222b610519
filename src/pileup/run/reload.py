"""The plan of a run that is there, from its suite, when that is what the run began with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pileup.model.errors import UsageError
from pileup.model.plan import Plan
from pileup.suite import load
from pileup.suite.secrets import HIDDEN


def reload(info: dict[str, Any], given: Mapping[str, str], records: bool = True) -> Plan:
    """Return the plan that run.json tells of. `given` are values of the suite that the record hides.

    Without `records` those that its loads replay are not looked at: such a plan is not to be pressed.
    Raises UsageError when a secret is missing or the suite has changed, SuiteError when it cannot be read.
    """
    told = info["suite"]
    values = {name: value for name, value in told["values"].items() if value != HIDDEN} | dict(given)
    hidden = sorted(set(told["values"]) - set(values))
    if hidden:
        names = " ".join(f"--set {name}=…" for name in hidden)
        raise UsageError(f"the record does not keep secrets: {', '.join(hidden)}", names, "give the same as before")
    source = Path(told["folder"]) / Path(told["source"]).name
    plan = load(source, values, records)
    if plan.digest != told["digest"]:
        raise UsageError(
            f"{source} is not what this run began with", "the same suite and values", "`pileup run` it anew"
        )
    if records:
        _check_replays(info, plan)
    return plan


def _check_replays(info: dict[str, Any], plan: Plan) -> None:
    """Raise UsageError when a record that a load replays has other starts than the run began with."""
    told = {case["id"]: case.get("replay") or {} for case in info["cases"]}
    for case in plan.cases:
        before = told.get(case.id, {})
        if case.replay and (before.get("recorded"), before.get("last")) != (case.replay.recorded, case.replay.last):
            what = f"{case.replay.source}, which {case.name} replays, is not what this run began with"
            raise UsageError(what, "the same record", "`pileup run` the suite anew")
