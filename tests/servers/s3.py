"""Servers of S3 on free ports of 127.0.0.1, of which pileup knows the url alone."""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from pileup.builtin.practice.s3 import READY
from pileup.builtin.s3.target import S3Target
from pileup.model.practice import CLIENT, SECRET
from pileup.model.suite import Credentials
from pileup.plugin import Accepts, Daemon, Launcher
from tests.servers.launched import launched
from tests.support import give_up

BUCKET = "pileup"
KEYS = {"access_key": CLIENT, "secret_key": SECRET}


@dataclass(frozen=True)
class S3:
    """A server with a bucket, and what it says otherwise than others."""

    url: str
    unknown_key: str = "InvalidAccessKeyId"
    """What it says of a key that it does not know."""

    def target(self, prefix: str = "", **options: object) -> S3Target:
        """Return a look at it beside any run."""
        return S3Target(f"{self.url}/{prefix}".rstrip("/"), Credentials.model_validate(KEYS), **options)


@contextlib.contextmanager
def practice_s3(*options: str) -> Iterator[S3]:
    """Yield a practice S3 started with these options of `pileup practice s3`."""
    command = (sys.executable, "-m", "pileup", "practice", "s3", *options)
    with tempfile.TemporaryDirectory() as folder, launched(Launcher.one(command, READY), Path(folder)) as url:
        yield S3(url)


@contextlib.contextmanager
def versitygw(folder: Path) -> Iterator[S3]:
    """Yield versitygw, which keeps objects as files: the folder of the bucket is there before it starts."""
    program = go_program("versitygw", "github.com/versity/versitygw/cmd/versitygw")
    (folder / "data" / BUCKET).mkdir(parents=True)
    words = ("--access", CLIENT, "--secret", SECRET, "--port", "127.0.0.1:{port}", "--quiet", "posix", "{folder}/data")
    server = Launcher((Daemon((program, *words), Accepts()),), url=f"s3://127.0.0.1:{{port}}/{BUCKET}")
    with launched(server, folder) as url:
        yield S3(url, "XAdminUserNotFound")


@contextlib.contextmanager
def minio(folder: Path) -> Iterator[S3]:
    """Yield MinIO; the folder of the bucket is there before it starts."""
    program = go_program("minio", "github.com/minio/minio")
    (folder / "data" / BUCKET).mkdir(parents=True)
    words = ("server", "--quiet", "--address", "127.0.0.1:{port}", "{folder}/data")
    told = {"MINIO_ROOT_USER": CLIENT, "MINIO_ROOT_PASSWORD": SECRET, "MINIO_BROWSER": "off", "MINIO_UPDATE": "off"}
    server = Launcher(
        (Daemon((program, *words), Accepts(), environment=told),), url=f"s3://127.0.0.1:{{port}}/{BUCKET}"
    )
    with launched(server, folder) as url:
        yield S3(url)


KINDS: dict[str, Callable[[Path], AbstractContextManager[S3]]] = {
    "practice": lambda _: practice_s3(),
    "versitygw": versitygw,
    "minio": minio,
}


def go_program(name: str, package: str) -> str:
    """Return the path of a program that Go builds; the test is skipped without it.

    Where Go is there `make system` builds versitygw, so there CI must have that.
    """
    found = shutil.which(name) or shutil.which(name, path=str(Path.home() / "go" / "bin"))
    if found is None and name == "versitygw" and (shutil.which("go") or Path("/usr/local/go/bin/go").is_file()):
        give_up(f"{name} is not installed: make system")
    if found is None:
        pytest.skip(f"{name} is not installed: go install {package}@latest")
    return found
