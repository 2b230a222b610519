"""The hash of the engine's sources, as crates/pileup-py/build.rs bakes it in: shows whether a build is fresh."""

import hashlib
import sys
from pathlib import Path

OUTSIDE = ("Cargo.lock", "Cargo.toml")


def source_files(root: Path) -> list[Path]:
    """Return what the module is built from, sorted by the bytes of the path below `root`."""
    found = [path for path in (root / name for name in OUTSIDE) if path.is_file()]
    for path in (root / "crates").rglob("*"):
        if (path.suffix == ".rs" or path.name == "Cargo.toml") and path.is_file():
            found.append(path)
    return sorted(found, key=lambda path: path.relative_to(root).as_posix().encode())


def source_hash(root: Path) -> str:
    """Return SHA-256 over path, length (8 bytes, little endian) and bytes of every source, hexadecimal."""
    digest = hashlib.sha256()
    for path in source_files(root):
        data = path.read_bytes()
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


if __name__ == "__main__":
    print(source_hash(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent))
