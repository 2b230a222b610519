"""Whether the Rust that is here can build the engine, and what to do where it cannot."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOW = """\
  A wheel of pileup needs no Rust: `make dist` makes one, where Rust is.
  To build here, install Rust:
    Debian 12:  apt-get install rustc-web cargo-web
    elsewhere:  rustup, from https://rustup.rs"""


def wanted() -> str:
    """Return the oldest version of rustc that builds the engine, e.g. `1.88`."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    return str(manifest["workspace"]["package"]["rust-version"])


def fault() -> str | None:
    """Return what is wrong with rustc and cargo here, what was expected and what to do next, or None."""
    rustc = shutil.which(os.environ.get("RUSTC", "rustc"))
    there = _version(rustc) if rustc else "no rustc"
    if not shutil.which(os.environ.get("CARGO", "cargo")):
        there = "no cargo"
    if _numbers(there) >= _numbers(wanted()):
        return None
    return (
        f"error: {there} is here; expected rustc {wanted()} or newer, and cargo, to build the engine of pileup\n{HOW}"
    )


def _version(rustc: str) -> str:
    """Return what rustc says of itself, e.g. `rustc 1.95.0`."""
    done = subprocess.run([rustc, "--version"], capture_output=True, text=True, check=False)
    return " ".join(done.stdout.split()[:2]) or "a rustc without a version"


def _numbers(text: str) -> tuple[int, ...]:
    """Return the first version in a text as numbers; none where there is none."""
    found = re.search(r"\d+(\.\d+)+", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
