"""Install pileup into .venv: Python in place, the engine rebuilt only when the hash of its sources changed."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from rust import fault
from source_hash import source_hash
from trained import FOLDER, settings

ROOT = Path(__file__).resolve().parent.parent
STATE = Path(sys.prefix) / ".pileup-build"


def wanted() -> str:
    """Return what the installed state depends on: engine sources, profile, metadata, profiles for the compiler."""
    others = [ROOT / name for name in ("pyproject.toml", "constraints.txt")] + sorted(FOLDER.glob("*.profdata"))
    return f"{source_hash(ROOT)} {profile()} {hash_of(b''.join(path.read_bytes() for path in others))}"


def hash_of(data: bytes) -> str:
    """Return a short hash."""
    return hashlib.sha256(data).hexdigest()[:16]


def profile() -> str:
    """Return the build profile, release unless PROFILE says otherwise."""
    return os.environ.get("PROFILE", "release")


def main() -> int:
    """Build when needed."""
    state = wanted()
    if STATE.exists() and STATE.read_text() == state:
        return 0
    problem = fault()
    if problem:
        sys.exit(problem)
    print("building the engine (one to three minutes the first time) ...", flush=True)
    command = [f"{sys.prefix}/bin/maturin", "develop", "--quiet", f"--profile={profile()}"]
    environment = {
        **os.environ,
        **(settings() if profile() == "release" else {}),
        "PIP_QUIET": "2",
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "VIRTUAL_ENV": sys.prefix,
    }
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if code == 0:
        STATE.write_text(state)
    return code


if __name__ == "__main__":
    sys.exit(main())
