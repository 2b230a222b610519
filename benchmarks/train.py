"""Let the engine work, count which way it goes at each branch, and keep that for the compiler (tools/trained.py).

An engine that counts is built in target/; loads of drive.py then press servers that this starts. What is kept has a
release of rustc in its name: after another one, or when tests/truth/test_instructions.py finds an operation too dear,
train again.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import closed_http
import disk
import meter
import s3_objects
import servers
import storage_servers
import storage_stat
from figures import progress
from trained import built_for, compiler, profile

ROOT = Path(__file__).resolve().parent.parent
LARGE = "large"
SECOND = 10**9


def counting(scratch: Path, target: str) -> Path:
    """Build an engine that counts; return the folder of a copy of pileup that has it."""
    flags = built_for(target, f"-Cprofile-generate={scratch / 'counts'}")
    where = {"CARGO_TARGET_DIR": str(ROOT / "target/train"), "PYO3_PYTHON": sys.executable}
    words = ["cargo", "rustc", "--quiet", "--release", "--package", "pileup-py", "--lib", "--crate-type", "cdylib"]
    subprocess.run(words, cwd=ROOT, env={**os.environ, **flags, **where}, check=True)
    copy = scratch / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    built = ROOT / "target/train" / target / "release/libpileup_py.so"
    shutil.copy2(built, copy / "pileup/_core/_native.abi3.so")
    return copy


def press(name: str, command: list[str], source: Path) -> None:
    """Run a load with the engine that counts; it must do something, and all of that well."""
    words = ["env", f"PYTHONPATH={source}", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    told = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"passed": 0, "failed": 0}
    if told["failed"] or not told["passed"]:
        raise meter.Trouble(
            f"{name}: {told['passed']} passed, {told['failed']} failed; expected some to pass and none to fail "
            f"(it said: {done.stderr[-1000:]})"
        )
    progress(f"{name}: {told['passed']:,}")


def drive(protocol: str, client: dict[str, Any], step: dict[str, Any], **load: Any) -> list[str]:
    """Return the command of a load for two seconds."""
    order = {"load": {"clients": 8, "for": 2 * SECOND} | load, "client": {"protocol": protocol, "settings": client}}
    words = json.dumps(order | {"step": step, "every": 0.25})
    return [sys.executable, str(Path(__file__).with_name("drive.py")), words]


def work(scratch: Path, source: Path) -> None:
    """Press nothing, files, nginx, XRootD by each of its protocols, and S3: what is small more than what is large."""
    press("noop", drive("noop", {}, {"verb": "noop"}, clients=64), source)
    press("noop, paced", drive("noop", {}, {"verb": "noop"}, clients=1000, rate=30_000, kind="open"), source)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        Path(folder, disk.FILE).write_bytes(os.urandom(disk.SIZE))
        for name, command in disk.commands(Path(folder)).items():
            if name.endswith("pileup") and "same time" not in name:  # those run for long, and would outweigh the others
                press(name, command, source)
    with tempfile.TemporaryDirectory() as folder, servers.nginx(Path(folder)) as server:
        press("http", closed_http.pileup(server, Path(folder)), source)
    with tempfile.TemporaryDirectory() as folder:
        storage(Path(folder), source)
    with tempfile.TemporaryDirectory() as folder, s3_objects.serving(Path(folder)) as port:
        for operation in ("write", "read"):
            press(f"s3, {operation}", s3_objects.by_engine(port, operation, 1000, 2), source)


def storage(folder: Path, source: Path) -> None:
    """Press an XRootD: stats, and large files by root, http and https."""
    storage_servers.prepare(folder, {storage_stat.FILE: 1000, LARGE: 64 << 20})
    with storage_servers.xrootd(folder) as grid:
        for sessions in (storage_stat.FEW, storage_stat.SESSIONS):
            press(f"stat, {sessions} sessions", storage_stat.by_engine(grid.urls["root"], sessions), source)
        step = {"verb": "read", "keys": {"names": [LARGE]}, "verify": False}
        for protocol, url in grid.urls.items():
            client = {"url": url} | ({"ca": str(grid.ca)} if protocol == "https" else {})
            press(f"read by {protocol}", drive("xroot" if protocol == "root" else "http", client, step), source)


def merger() -> Path:
    """Return the program that puts counts together: that of the compiler, since others cannot read them."""
    root = subprocess.run(["rustc", "--print", "target-libdir"], capture_output=True, text=True, check=True).stdout
    tool = Path(root.strip()).parent / "bin/llvm-profdata"
    if not tool.exists():
        raise meter.Trouble(
            "llvm-profdata is not here; expected that of rustc's own LLVM (rustup component add llvm-tools)"
        )
    return tool


def merged(tool: Path, counts: Path, kept: Path) -> None:
    """Put the counts of all loads into one file, without the functions that never ran."""
    kept.parent.mkdir(exist_ok=True)
    subprocess.run([tool, "merge", "-sparse", "-o", kept, counts], check=True)
    print(f"{kept.relative_to(ROOT)}: {kept.stat().st_size / 1e6:.2f} MB; `make build` makes use of it")


def main() -> int:
    """Build, press, keep."""
    meter.open_files()
    release, target = compiler()
    try:
        tool = merger()
        with tempfile.TemporaryDirectory(prefix="pileup-train-") as scratch:
            progress("building an engine that counts (three minutes)")
            source = counting(Path(scratch), target)
            work(Path(scratch), source)
            merged(tool, Path(scratch) / "counts", profile(release, target))
    except meter.Trouble as trouble:
        print(f"train: {trouble}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
