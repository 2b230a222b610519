"""Run pytest, try what failed once more, alone, and list what passed only then.

    python tools/tests.py NAME [arguments of pytest]

NAME is the name of the step, such as `fast` or `timed`. Other programs on a machine may keep a CPU away from any test:
what fails is tried once more, by itself. What fails twice has failed. What passed only the second time is listed at the
end and in target/second-try.txt, which `.ci/run` prints. A test that is there often has to be fixed.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAILED = ROOT / ".pytest_cache/v/cache/lastfailed"
LIST = ROOT / "target/second-try.txt"
NO_TESTS = 5
"""Exit code of pytest when there was nothing to run."""


def pytest(*arguments: str) -> int:
    """Run pytest in the project and return its exit code."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode


def failed() -> list[str]:
    """Return the tests that failed in the last run of pytest; empty where it kept no list."""
    return sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []


def main(arguments: list[str]) -> int:
    """Run, try again, report; return an exit code."""
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    name, *rest = arguments
    FAILED.unlink(missing_ok=True)
    code = pytest(*rest)
    first = failed()
    if code == 0 or not first:
        return code
    print(f"\n{len(first)} failed; each is tried once more, alone ...", flush=True)
    code = pytest("--last-failed", "--last-failed-no-failures", "none")
    again = set(failed())
    recovered = [test for test in first if test not in again]
    if recovered:
        LIST.parent.mkdir(exist_ok=True)
        with LIST.open("a") as kept:
            kept.writelines(f"{name}: {test}\n" for test in recovered)
        print(f"\npassed only at the second try (also in {LIST.relative_to(ROOT)}):")
        print("\n".join(f"  {test}" for test in recovered))
    return 0 if code == NO_TESTS else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
