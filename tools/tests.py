"""Run pytest, try what failed once more, alone, and list what passed only then, and what took long.

    python tools/tests.py NAME [arguments of pytest]

NAME is the name of the step, such as `fast` or `timed`. Other programs on a machine may keep a CPU away from any test:
what fails is tried once more, by itself. What fails twice has failed. What passed only the second time is listed at the
end and in target/second-try.txt. A test that is there often has to be fixed. Tests of a step that took longer than
LIMITS allow it are listed at the end and in target/slow-tests.txt; they are no failures, since machines differ.
`.ci/run` prints both files.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
FAILED = ".pytest_cache/v/cache/lastfailed"
LIST, SLOW = "target/second-try.txt", "target/slow-tests.txt"
LIMITS = {"fast": 20.0}
"""Step -> seconds that a test of it should take at most, set-up and clean-up included."""
NO_TESTS = 5
"""Exit code of pytest when there was nothing to run."""


def pytest(*arguments: str) -> int:
    """Run pytest in the project and return its exit code."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode


def failed() -> list[str]:
    """Return the tests that failed in the last run of pytest; empty where it kept no list."""
    path = ROOT / FAILED
    return sorted(json.loads(path.read_text())) if path.exists() else []


def slow(report: Path, limit: float) -> list[str]:
    """Return the tests of a JUnit report that took longer than so many seconds, with their times, the longest first."""
    if not report.exists():
        return []
    times = [(float(each.get("time", "0")), each) for each in ElementTree.parse(report).iter("testcase")]
    found = sorted(((time, each) for time, each in times if time > limit), key=lambda pair: -pair[0])
    return [
        f"{time:.1f} s {each.get('classname', '').replace('.', '/')}.py::{each.get('name')}" for time, each in found
    ]


def keep(file: str, step: str, lines: Iterable[str]) -> None:
    """Put lines of a step into a file in the place of those that it has of this step."""
    path = ROOT / file
    others = path.read_text().splitlines() if path.exists() else []
    path.parent.mkdir(exist_ok=True)
    kept = [line for line in others if not line.startswith(f"{step}: ")]
    path.write_text("".join(f"{line}\n" for line in [*kept, *(f"{step}: {line}" for line in lines)]))


def tell(title: str, file: str, step: str, lines: list[str]) -> None:
    """Print lines, and put them into a file."""
    keep(file, step, lines)
    if lines:
        print(f"\n{title} (also in {file}):", *(f"  {line}" for line in lines), sep="\n", flush=True)


def main(arguments: list[str]) -> int:
    """Run, try again, report; return an exit code."""
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    step, *rest = arguments
    keep(LIST, step, ())
    keep(SLOW, step, ())
    (ROOT / FAILED).unlink(missing_ok=True)
    report = ROOT / f"target/tests-{step}.xml"
    report.unlink(missing_ok=True)
    code = pytest(*rest, f"--junitxml={report}")
    if step in LIMITS:
        tell(f"took longer than {LIMITS[step]:g} s", SLOW, step, slow(report, LIMITS[step]))
    first = failed()
    if code == 0 or not first:
        return code
    print(f"\n{len(first)} failed; each is tried once more, alone ...", flush=True)
    code = pytest("--last-failed", "--last-failed-no-failures", "none")
    again = set(failed())
    tell("passed only at the second try", LIST, step, [test for test in first if test not in again])
    return 0 if code == NO_TESTS else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
