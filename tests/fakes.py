"""Plug-ins for tests of suites and of the command line: small, and independent of those that pileup ships."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from pileup.model.law import TimeLaw
from pileup.model.results import RunResults
from pileup.plugin import (
    ClientSpec,
    Count,
    Duration,
    Launcher,
    Monitor,
    Program,
    Report,
    Size,
    Step,
    Target,
    Test,
    option,
    registry,
)
from pileup.suite import instances


class Noop(Test):
    """Do nothing."""

    name = "noop"
    cost: Duration = option(0, le=3600 * 10**9, help="time that it takes")

    def program(self) -> Program:
        return Program((Step("noop", "noop", cost_ns=self.cost),))

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        return iterations, 0


class Write(Test):
    """Write files of known content."""

    name = "storage.write"
    needs = "files"
    folder: str = option("pileup", help="folder of the files")
    files: Count = option(1, ge=1, help="number of files")
    size: Size = option(1 << 20, le=1 << 40, help="size of each")
    order: Literal["sequential", "random"] = option("sequential", help="order of the files")

    def check(self) -> None:
        if self.files * self.size > 1 << 50:
            raise ValueError(f"{self.files} files of {self.size} B; expected at most 1 PiB in all")

    def program(self) -> Program:
        return Program((Step("write", "write"),))

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        return iterations * self.files, iterations * self.files * self.size


class Command(Test):
    """Run a command."""

    name = "command"
    command: str = option(help="the command line")
    share: float = option(0.5, ge=0, le=1, help="a number")

    def run(self, op: object) -> None:
        raise NotImplementedError


class Request(Test):
    """Send one request."""

    name = "http.request"
    needs = "http"
    method: str = option("GET", pattern="^[A-Z]+$", help="method")

    def program(self) -> Program:
        return Program((Step("request", "request", method=self.method),))


class Careless(Test):
    """Has a mistake in its check."""

    name = "careless"

    def check(self) -> None:
        raise KeyError("colour")

    def run(self, op: object) -> None:
        raise NotImplementedError


class NoopTarget(Target):
    """Nothing."""

    kind = "noop"
    needs_url: ClassVar[bool] = False

    def client(self) -> ClientSpec:
        return ClientSpec("noop")


class Posix(Target):
    """A folder."""

    kind = "posix"
    provides = frozenset({"any", "files"})
    scratch = True

    def client(self) -> ClientSpec:
        return ClientSpec("posix", {"root": self.url})


class Http(Target):
    """A server."""

    kind = "http"
    provides = frozenset({"any", "http"})
    keep_alive: bool = option(True, help="one connection for many requests")

    def client(self) -> ClientSpec:
        return ClientSpec("http", {"url": self.url})


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    threads: Count = Field(16, ge=1, description="slots")
    service: TimeLaw | None = None


class Practice(Http):
    """Storage of known truth."""

    launch_settings = Settings

    kind = "practice-storage"
    provides = frozenset({"any", "http", "files"})

    @classmethod
    def launcher(cls, settings: dict[str, Any], folder: Path) -> Launcher | None:
        wanted = Settings.model_validate(settings)
        return Launcher.one(("true", str(wanted.threads)), "ready at (?P<url>.*)")


class Node(Monitor):
    """This machine."""

    name = "node"

    def sample(self) -> Iterator[Any]:
        yield from ()


class Process(Monitor):
    """Chosen processes."""

    name = "process"
    match: str | None = option(None, help="expression in the command line")
    pid: int | None = option(None, ge=1, help="number")

    def check(self) -> None:
        if self.match is None and self.pid is None:
            raise ValueError("no process is chosen; expected match or pid")

    def sample(self) -> Iterator[Any]:
        yield from ()


class Plain(Report):
    """A page of text."""

    name = "plain"
    file_name = "report.txt"

    def render(self, results: RunResults, outputs: dict[str, str]) -> bytes:
        return b""


CLASSES = {
    "tests": [Noop, Write, Command, Request, Careless],
    "targets": [NoopTarget, Posix, Http, Practice],
    "monitors": [Node, Process],
    "reports": [Plain],
}


def entries(kind: str) -> Iterator[EntryPoint]:
    """What the registry finds in the place of installed entry points."""
    for cls in CLASSES.get(kind, []):
        name = vars(cls).get("kind") or cls.name
        yield EntryPoint(name, f"tests.fakes:{cls.__name__}", f"pileup.{kind}")
    if kind == "tests":
        yield EntryPoint("xrootd.copy", "no_such_module:Copy", "pileup.tests")


@pytest.fixture
def fake_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Only the plug-ins of this file are installed."""
    monkeypatch.setattr(registry, "_entries", entries)
    instances.imported.cache_clear()
    yield
    instances.imported.cache_clear()
