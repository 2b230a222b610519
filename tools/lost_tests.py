"""Print which tests of one commit are in another no more, by the names of test functions in Python and Rust.

    python tools/lost_tests.py BEFORE [NOW]

NOW is HEAD if it is left out. A renamed test is printed too: docs/decisions/0008 says what became of each. The exit
code is 1 if there is any.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "*.py": (r"def test_", r"^[ \t]*(?:async )?def (test_\w+)\("),
    "*.rs": (r"#\[([a-z]+::)?test\b", r"#\[(?:\w+::)?test\b[^\n]*\n(?:[^\n]*\n)*?[^\n]*\bfn (\w+)"),
}
"""Files -> the line that git looks for, and how the name is found in it and those after it."""
AFTER = 4
"""Lines: attributes may be between `#[test]` and the name."""


def names(files: str, commit: str, root: Path = ROOT) -> Counter[str]:
    """Return how often each name of a test is in the files of a commit. Raises ValueError for an unknown commit."""
    line, name = TESTS[files]
    words = ["git", "-C", str(root), "grep", "-h", "-E", f"-A{AFTER}", line, commit, "--", files]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode > 1:  # 1: nothing was found
        raise ValueError(f"{done.stderr.strip()}; expected a commit of this repository")
    return Counter(re.findall(name, done.stdout, flags=re.MULTILINE))


def main(arguments: list[str]) -> int:
    """Print what is lost; return an exit code."""
    if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    before, now = arguments[0], arguments[1] if len(arguments) == 2 else "HEAD"
    lost = 0
    for files in TESTS:
        old, new = names(files, before), names(files, now)
        gone = old - new
        lost += gone.total()
        print(f"{files}: {old.total()} tests in {before}, {new.total()} in {now}; lost: {gone.total()}")
        print("".join(f"    {name}\n" for name in sorted(gone.elements())), end="")
    return int(lost > 0)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ValueError as problem:
        sys.exit(str(problem))
