"""What tests share: programs they need, and the command line."""

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeVar

import hypothesis
import pytest

from tests import warm

T = TypeVar("T", bound=Hashable)
ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
ORDINARY = 100
"""Examples of a property where no profile says otherwise."""


def examples(number: int) -> int:
    """Return how many examples Hypothesis tries: so many, more in a larger profile, its share in a smaller one."""
    most = hypothesis.settings.default.max_examples if hypothesis.settings.default else ORDINARY
    return max(number, most) if most >= ORDINARY else number * most // ORDINARY


def others_long(fast: Iterable[T], names: Iterable[T]) -> list[object]:
    """Return names as parameters of a test: some in the fast step, the others in the long one."""
    kept = set(fast)
    return [pytest.param(name, marks=() if name in kept else (pytest.mark.long,)) for name in names]


def others_nightly(most: Iterable[T], names: Iterable[T]) -> list[object]:
    """Return names as parameters of a test that is long: some for each change, the others in `make nightly` alone."""
    kept = set(most)
    return [pytest.param(name, marks=() if name in kept else (pytest.mark.nightly,)) for name in names]


def tool(name: str) -> ModuleType:
    """Return a file of tools/ as a module, e.g. `dist`; what it imports is looked for beside it."""
    path = ROOT / f"tools/{name}.py"
    spec = spec_from_file_location(f"tool_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(path.parent))
        spec.loader.exec_module(module)
    return module


def require_program(name: str, install: str) -> str:
    """Return the path of a program; without it the test is skipped with the reason, or fails where CI=true."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin") or (
        name if Path(name).is_file() else None
    )
    if found is None:
        give_up(f"{name} is not installed; as root: {install}")
    return found


def require_programs(packages: Mapping[str, str]) -> None:
    """Go on only with all these programs; each is given with the Debian package that has it."""
    for program, package in packages.items():
        require_program(program, f"apt-get install {package}")


@contextlib.contextmanager
def closed(folder: Path) -> Iterator[Path]:
    """Yield a folder that is closed to who asks: of somebody else's where root asks, who then is nobody."""
    user, mode = os.geteuid(), folder.stat().st_mode
    folder.chmod(0)
    if user == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(mode)


def require_bindings() -> None:
    """Go on only with the official bindings of XRootD."""
    if find_spec("XRootD") is None:
        give_up("the official bindings are not installed: pip install 'pileup[xrootd]'")


def give_up(reason: str) -> NoReturn:
    """Skip the test (a whole module, where that is imported) with the reason, or fail where CI=true."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)


FIGURES = ("--set", "reports=[{use: json}]")
"""Words of a run that writes its figures alone: drawing the page takes a third of what a short run costs."""


def pileup(
    *arguments: str, cwd: Path, timeout: float = 120, drawn: bool = False, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run the command line as a user does; a run writes its figures alone, unless all its reports are asked for."""
    words = [*arguments, *(FIGURES if arguments[:1] == ("run",) and not drawn else ())]
    variables = {**os.environ, "PILEUP_RUNS": str(cwd / "runs"), **environment}
    if warm.same_start(variables):
        return warm.shared().run(words, cwd, variables, timeout)
    return subprocess.run(
        [sys.executable, "-m", "pileup", *words],
        cwd=cwd,
        env=variables,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def run_folder(done: "subprocess.CompletedProcess[str]") -> Path:
    """Return the run folder that a run has printed last."""
    assert done.stdout.strip(), done.stderr
    return Path(done.stdout.strip().splitlines()[-1])


WRONG = ("failed", "refused", "ambiguous", "unfinished", "lost")
"""Counts of operations that say something of the system: of one of which nothing was seen all are zero."""


def unseen(results: Mapping[str, Any]) -> set[str]:
    """Return the names of the cases of results.json of which a run has not seen enough to say how they ended.

    The loads of tests are short, and on a busy machine may see nothing: then "unknown" is the truth, what needs such a
    case is not run, and what is said of it is unknown. A case that is unknown although something went wrong is not one.
    """
    wrong = {each["case"] for each in results["errors"]}
    wrong |= {
        case["name"]
        for case in results["cases"]
        if any(each["counts"][name] for each in case["operations"] for name in WRONG)
    }
    return {case["name"] for case in results["cases"] if case["outcome"] == "unknown"} - wrong


def check_passed(results: Mapping[str, Any]) -> None:
    """Hold every case to have passed, but for those that are `unseen` or need one of these: most have passed."""
    names = unseen(results)
    ends = [case["outcome"] for case in results["cases"] if case["name"] not in names]
    assert set(ends) - ({"not run"} if names else set()) == {"passed"}, explained(results)
    assert 2 * ends.count("passed") > len(results["cases"]), explained(results)


def code_of(results: Mapping[str, Any]) -> int:
    """Return the exit code that the outcomes of cases and the verdicts of criteria in results.json mean."""
    verdicts = {each["verdict"].removesuffix(", not shown") for each in results["criteria"]}
    said = {case["outcome"] for case in results["cases"]} | verdicts
    codes = {"unavailable": 5, "failed": 1, "not met": 4, "unknown": 8}
    return next((code for word, code in codes.items() if word in said), 0)


def until(found: Callable[[], bool], within: float = 60.0) -> None:
    """Wait until something holds, for so many seconds at most."""
    end = time.monotonic() + within
    while not found():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.05)


def explained(results: Mapping[str, Any]) -> str:
    """Return why cases and criteria are not what they should be, for the message of an assertion."""
    cases = [f"{each['name']}: {each['outcome']}: {each['reason']}" for each in results["cases"]]
    criteria = [f"{each['id']}: {each['verdict']}: {each['reason']}" for each in results["criteria"]]
    errors = [f"{each['case']}, {each['operation']}: {each['message']}" for each in results["errors"]]
    return "\n".join([*cases, *criteria, *errors, results["limit"]])
