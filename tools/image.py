"""Build the image of the Containerfile and use it as its user does: `make image`.

    python tools/image.py [--own-base]

podman, docker or buildah, whichever is here and works, builds it and runs the first suite in it. Where no registry of
images can be reached, --own-base makes the base image from Debian's packages: with buildah and debootstrap, as root.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dist import verdict

ROOT = Path(__file__).resolve().parent.parent
IMAGE = "localhost/pileup"
BASE = "docker.io/library/debian:bookworm-slim"
MIRROR = "http://deb.debian.org"
SOURCES = f"""deb {MIRROR}/debian bookworm main
deb {MIRROR}/debian bookworm-updates main
deb {MIRROR}/debian-security bookworm-security main
"""
AUTHORITIES = ("PIP_CERT", "CARGO_HTTP_CAINFO", "SSL_CERT_FILE")
"""What programs in the image take as the file with certificates, where this machine has one of its own."""
USES: tuple[tuple[list[str], Callable[[str], str]], ...] = (
    (["--version"], str.strip),
    (["list", "tests", "--json"], lambda printed: f"{len(json.loads(printed)['tests'])} tests"),
    (["run", "suite:first-run", "--quiet", "--json"], verdict),
)
"""What is typed after `pileup`, and what says in a few words what came out, from its stdout."""


class Trouble(Exception):
    """What went wrong, what was expected, and what to do next."""


def run(*command: str) -> str:
    """Run a command and return its stdout. Raises Trouble with the last lines of all that it printed."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = "\n".join([*done.stdout.splitlines()[-40:], *done.stderr.splitlines()[-40:]])
        raise Trouble(f"{tail}\n`{' '.join(command[:6])} …` ended with {done.returncode}")
    return done.stdout.strip()


def works(program: str) -> bool:
    """Return whether a builder is here and answers; a docker without its daemon does not."""
    asked = [program, "info"]
    return bool(shutil.which(program)) and subprocess.run(asked, capture_output=True, check=False).returncode == 0


def builder(own_base: bool = False) -> str:
    """Return what builds images here: podman or docker if it works, else buildah; "" where none is."""
    engines = () if own_base else ("podman", "docker")
    return next(filter(works, engines), "") or ("buildah" if shutil.which("buildah") else "")


@contextmanager
def by_engine(engine: str) -> Iterator[Callable[[list[str]], str]]:
    """Build with podman or docker; yield what runs pileup in the image."""
    run(engine, "build", "-f", "Containerfile", "-t", IMAGE, ".")
    yield lambda words: run(engine, "run", "--rm", IMAGE, *words)


@contextmanager
def by_buildah(own_base: bool) -> Iterator[Callable[[list[str]], str]]:
    """Build with buildah, in a storage that goes again; yield what runs pileup in the image."""
    with tempfile.TemporaryDirectory(prefix="pileup-image-") as folder:
        storage = ["--storage-driver", "vfs", "--root", f"{folder}/root", "--runroot", f"{folder}/run"]
        buildah = ["buildah", *storage]
        words = ["--isolation", "chroot", "--network", "host"]
        if own_base:
            words += ["--pull-never", *make_base(buildah, Path(folder, "base"))]
        run(*buildah, "bud", *words, "-f", "Containerfile", "-t", IMAGE, ".")
        container = run(*buildah, "from", "--pull-never", IMAGE)
        yield lambda words: run(*buildah, "run", "--isolation", "chroot", container, "--", "pileup", *words)


def make_base(buildah: list[str], rootfs: Path) -> list[str]:
    """Make the base image from Debian's packages; return the words that a build on it needs."""
    if not shutil.which("debootstrap") or os.geteuid() != 0:
        raise Trouble("no debootstrap, or not root; expected both for --own-base; apt-get install debootstrap")
    run("debootstrap", "--variant=minbase", "bookworm", str(rootfs), f"{MIRROR}/debian")
    (rootfs / "etc/apt/sources.list").write_text(SOURCES)
    container = run(*buildah, "from", "scratch")
    run(*buildah, "copy", "--quiet", container, str(rootfs), "/")
    certificates = os.environ.get("SSL_CERT_FILE", "")
    mounted = [f"{path}:{to}:ro" for path, to in ((certificates, "/ca.pem"), ("/etc/pip.conf", "/etc/pip.conf"))]
    mounted = [each for each in mounted if Path(each.partition(":")[0]).is_file()]
    if certificates:
        run(*buildah, "config", *(f"--env={name}=/ca.pem" for name in AUTHORITIES), container)
    run(*buildah, "commit", "--quiet", container, BASE)
    shutil.rmtree(rootfs)
    return [word for each in mounted for word in ("--volume", each)]


def main(arguments: list[str]) -> int:
    """Build, use, and say what came out."""
    own_base = arguments == ["--own-base"]
    engine = builder(own_base)
    if not engine:
        needed = ("buildah", "it", "buildah") if own_base else ("podman, docker or buildah", "one of them", "podman")
        print("error: no {} works here; expected {}\n  apt-get install {}".format(*needed))
        return 1
    print(f"building {IMAGE} with {engine} (some minutes) ...", flush=True)
    try:
        with by_buildah(own_base) if engine == "buildah" else by_engine(engine) as pileup:
            for words, read in USES:
                print(f"pileup {' '.join(words)}: {read(pileup(words))}", flush=True)
    except Trouble as problem:
        print(f"error: {problem}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
