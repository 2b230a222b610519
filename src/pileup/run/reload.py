"""The plan of a run that is there, from its suite, when that is what the run began with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pileup.model.errors import UsageError
from pileup.model.plan import Plan
from pileup.suite import load
from pileup.suite.secrets import HIDDEN


def reload(info: dict[str, Any], given: Mapping[str, str]) -> Plan:
    """Return the plan that run.json tells of. `given` are values of the suite that the record hides.

    Raises UsageError when a secret is missing or the suite has changed, SuiteError when it cannot be read.
    """
    told = info["suite"]
    values = {name: value for name, value in told["values"].items() if value != HIDDEN} | dict(given)
    hidden = sorted(set(told["values"]) - set(values))
    if hidden:
        names = " ".join(f"--set {name}=…" for name in hidden)
        raise UsageError(f"the record does not keep secrets: {', '.join(hidden)}", names, "give the same as before")
    source = Path(told["folder"]) / Path(told["source"]).name
    plan = load(source, values)
    if plan.digest != told["digest"]:
        raise UsageError(
            f"{source} is not what this run began with", "the same suite and values", "`pileup run` it anew"
        )
    return plan
