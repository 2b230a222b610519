"""What a run of a suite that holds a queue says of its submissions."""

import json
from pathlib import Path
from typing import Any

from tests.support import EXAMPLES, pileup, run_folder


def ended(suite: str, values: dict[str, str], folder: Path) -> tuple[dict[str, Any], int, str]:
    """Run a shipped suite; return results.json, the exit code, and what was printed."""
    given = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    done = pileup("run", str(EXAMPLES / f"{suite}.yaml"), "--quiet", *given, cwd=folder, timeout=500)
    results: dict[str, Any] = json.loads((folder / run_folder(done) / "results.json").read_text())
    return results, done.returncode, done.stdout + done.stderr


def results_of(suite: str, values: dict[str, str], folder: Path) -> dict[str, Any]:
    results, code, said = ended(suite, values, folder)
    assert code == 0, said
    return results


def verdicts(results: dict[str, Any]) -> dict[str, str]:
    return {each["id"]: each["verdict"] for each in results["criteria"]}


def sure(results: dict[str, Any]) -> dict[str, str]:
    """The verdicts, without saying whether the interval shows them too."""
    return {name: verdict.removesuffix(", not shown") for name, verdict in verdicts(results).items()}


def fates(results: dict[str, Any], test: str) -> dict[str, int]:
    """What became of the submissions of a test, by the audit at the end."""
    found = next(each for each in results["audits"] if each["test"] == test)
    return {fate: count for fate, count in found["fates"].items() if count}


def steered(results: dict[str, Any]) -> dict[str, int]:
    """Fates of the submissions of a load that held a queue, after it was emptied: all known, none missing."""
    found = fates(results, "submit")
    assert set(found) <= {"ran once", "cancelled"}
    assert sum(found.values()) == handed_over(results, "submit")
    return found


def handed_over(results: dict[str, Any], test: str) -> int:
    """Return how many submissions a test had acknowledged, settling included, by the audit."""
    return int(next(each for each in results["audits"] if each["test"] == test)["acknowledged"])


def submitted(results: dict[str, Any], test: str) -> int:
    """Return how many submissions of a test passed in its measured time."""
    case = next(each for each in results["cases"] if each["test"] == test)
    operation = next(each for each in case["operations"] if each["operation"] == "submit")
    return int(operation["counts"]["passed"])
