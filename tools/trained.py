"""How often each branch of the engine is taken, for the compiler: profiles that `make train` keeps, one per compiler.

The compiler puts what is often used together and in line. A profile names functions as one release of rustc names
them, for one processor; another rustc finds none of them in it, and builds as without.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "crates/pileup-py/trained"
BETWEEN = "\x1f"
"""What cargo wants between flags that may have spaces."""


def compiler() -> tuple[str, str]:
    """Return release and host of the rustc that is here, e.g. `1.95.0` and `x86_64-unknown-linux-gnu`."""
    command = [os.environ.get("RUSTC", "rustc"), "-vV"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    told = dict(line.split(": ", 1) for line in lines if ": " in line)
    return told["release"], told["host"]


def profile(release: str, target: str, folder: Path = FOLDER) -> Path:
    """Return where the profile of a compiler is kept, if there is one."""
    return folder / f"{release}-{target}.profdata"


def settings(folder: Path = FOLDER) -> dict[str, str]:
    """Return the environment of a build for this machine that makes use of its profile; empty without one."""
    release, host = compiler()
    kept = profile(release, host, folder)
    # what has changed since it was trained is built as without, and needs no warning: a test counts what it costs
    flags = (f"-Cprofile-use={kept}", "-Cllvm-args=-no-pgo-warn-mismatch")
    return built_for(host, *flags) if kept.is_file() else {}


def built_for(target: str, *flags: str, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a build with further flags of rustc.

    The target is named: flags then are for the engine alone, not for what runs in the build, and a function has the
    same name in every build.
    """
    encoded = given.get("CARGO_ENCODED_RUSTFLAGS")
    before = given.get("RUSTFLAGS", "").split() if encoded is None else encoded.split(BETWEEN)
    return {"CARGO_BUILD_TARGET": target, "CARGO_ENCODED_RUSTFLAGS": BETWEEN.join(filter(None, [*before, *flags]))}
