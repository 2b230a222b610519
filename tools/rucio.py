"""Make the virtual environment that a private Rucio runs from, where pileup looks for it: for the tests.

    python tools/rucio.py

Nothing is done where it is there already. Without it the tests that need it say so.
"""

import os
import subprocess
import sys

from pileup.builtin.rucio.launcher import home, installing, missing


def main() -> int:
    """Make it; return 0, whatever comes of it: the tests report it."""
    if not missing():
        return 0
    print(f"installing Rucio for the tests into {home()} ...", flush=True)
    words = ["sh", "-c", f"{installing(home())} --quiet --disable-pip-version-check"]
    alone = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, env=alone, check=False)
    if done.returncode:
        print(f"that ended with {done.returncode}: tests of Rucio will be skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
