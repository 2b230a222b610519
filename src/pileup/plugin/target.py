"""A target is a system under test: where it is, who we are for it, and what its kind can do."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import SplitResult

from pileup.model.errors import NoListing, NotThere, TargetError, ThereAlready
from pileup.model.program import ClientSpec, Step
from pileup.model.record import Outcome
from pileup.model.suite import Credentials
from pileup.model.verbs import Names
from pileup.plugin.launcher import Launcher
from pileup.plugin.options import assign
from pileup.plugin.program_client import ProgramClient

NO_CLIENT = "this target has no client of the engine; expected a Python test, or a ProgramClient"
"""Why no native test can press a target, as "what; expected what"."""


class Target:
    """Base of all kinds of targets. Options are annotated fields; the docstring is the kind's page."""

    _framework: ClassVar[bool] = True
    kind: ClassVar[str] = ""
    """Name under which it is registered."""
    provides: ClassVar[frozenset[str]] = frozenset({"any"})
    """What tests may ask for in `needs`, beside the kind's own name."""
    scratch: ClassVar[bool] = False
    """Whether a folder of the run serves as url when the suite gives none."""
    needs_url: ClassVar[bool] = True
    """Whether it is somewhere at all; without an address a suite gives it neither url nor launch."""

    launch_settings: ClassVar[Any] = None
    """Pydantic model of the settings that `launcher` takes, for `pileup describe` and for the nearest name."""

    settable: ClassVar[tuple[str, ...]] = ()
    """Names of settings that `setting` tells and `change` changes, of a server that pileup did not launch."""

    refused: ClassVar[tuple[type[BaseException], ...]] = ()
    """Exceptions of its library by which the system refuses: what ends with one is refused, not failed."""
    ambiguous: ClassVar[tuple[type[BaseException], ...]] = ()
    """Exceptions that mean that no answer came, and that it may have happened; TimeoutError means so by itself."""

    relayed: ClassVar[bool] = False
    """Whether its clients connect to `via` where there is one: only then a suite may give it a `path`."""
    via: str = ""
    """Address (HOST:PORT) of a relay to connect to in the place of `endpoint`; empty: there is none."""

    folder: Path | None = None
    """Folder of the server that pileup launched for it, where `{folder}` of its launcher was; None for any other, and
    in processes and on hosts beside that of the run."""

    url: str
    """Where it is: as the suite says, or where the server is that pileup launched."""
    credentials: Credentials
    """Who pileup is for it; secrets are read late and never shown."""

    def __init__(self, url: str = "", credentials: Credentials | None = None, **options: Any) -> None:
        self.url = url
        self.credentials = credentials or Credentials()
        assign(self, options)

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse a url that no target of this kind can have, without reaching for it: asked before a run.

        Raises TargetError, or ValueError with "what; expected what".
        """

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start a private server with these settings, or None when this kind cannot be started.

        Raises ValueError for a setting that is unknown or out of bounds.
        """
        return None

    def endpoint(self) -> tuple[str, int]:
        """Return host and port of the server of the url: where a relay before it leads. For kinds that are `relayed`.

        Raises TargetError for a url that is not valid.
        """
        raise NotImplementedError

    def reach(self) -> tuple[str, int]:
        """Return host and port that a client has to connect to: of the relay where there is one, else the endpoint."""
        if not self.via:
            return self.endpoint()
        host, _, port = self.via.rpartition(":")
        return host.strip("[]"), int(port)

    def client(self) -> ClientSpec | None:
        """Return which protocol the engine speaks with this target, and its settings; None: the engine speaks none.

        Left out where the engine does not know the protocol: native tests cannot press the target then (unless
        `program_client` gives another client), tests in Python call what the class offers.
        """
        return None

    def remarks(self) -> list[str]:
        """Return what users should be told of this target on the screen and in the report; asked once it is reached."""
        return []

    def program_client(self) -> Callable[[int], ProgramClient] | None:
        """Return what makes the virtual client of a number to do the steps of native tests; None: the engine does them.

        For targets whose users choose between clients. What makes ready for a load and cleans up after it is the
        engine's in any case. Raises PluginError when the software is not installed.
        """
        return None

    def preparing_client(self) -> Callable[[int], ProgramClient] | None:
        """Return what makes ready for a load and cleans up where the engine cannot reach the target; None: the engine.

        This one is `program_client` for a target without `client`. Raises PluginError when the software is not
        installed.
        """
        return self.program_client() if type(self).client is Target.client else None

    def problem_of(self, step: Step) -> str:
        """Return why the client chosen cannot do a step, as "what; expected what"; empty when it can.

        Asked before a run, when the address may not be known. This one speaks for the engine, which needs `client`, and
        has no verb with a second target yet.
        """
        if type(self).client is Target.client and type(self).program_client is Target.program_client:
            return NO_CLIENT
        if step.traits.names is Names.ELSEWHERE:
            return f"the engine has no {step.verb}; expected a target with a client that has it"
        return ""

    def outcome_of(self, problem: BaseException) -> Outcome | None:
        """Return what an exception of its library means, where the class alone does not say; None: as declared.

        Asked of operations and iterations of Python tests that end with one which is none of pileup's.
        """
        return None

    def probe(self) -> str:
        """Reach the target once and return what it is (name, version). Raises TargetError when it cannot be reached."""
        return ""

    @classmethod
    def settings_of(cls, options: dict[str, object]) -> dict[str, tuple[str, ...]]:
        """Return the settings that a target with these options (as written) can change, with their values.

        A name without values takes any. They may be changed of a server that pileup launched, too.
        """
        return dict.fromkeys(cls.settable, ())

    def setting(self, name: str) -> str | None:
        """Return what a setting of `settings_of` is now, as `change` takes it; None: it is not to be restored.

        Raises TargetError when that fails.
        """
        raise NotImplementedError

    def change(self, name: str, value: str) -> None:
        """Change a setting of `settings_of` and return when it is in force. Raises TargetError when that fails.

        Called with nothing under way; at the end of the run with what `setting` told before the first change.
        """
        raise NotImplementedError


def port_of(parts: SplitResult) -> int | None:
    """Return the port of a url that was split, None where it has none. Raises TargetError for what is not a port."""
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        told = f"the url of {parts.hostname} has the port {parts.netloc.rpartition(':')[2][:20]!r}"
        raise TargetError(told, "a number from 1 to 65535", "correct the url")
    return port


def no_folder(url: str) -> TargetError:
    """Return what to raise for a url whose folder is not there, the same for every protocol."""
    return TargetError(f"{url}: no such folder", "a folder that is there", "make it, or correct the url")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a listing. Size in bytes, 0 for folders."""

    name: str
    size: int
    folder: bool


class FileTarget(Target):
    """A target that keeps files under paths: what Python tests may call. Paths are relative to the url."""

    _framework: ClassVar[bool] = True
    provides: ClassVar[frozenset[str]] = frozenset({"any", "files"})

    @abstractmethod
    def list(self, path: str) -> list[Entry]:
        """Return the entries of a folder, sorted by name.

        Raises NotThere when there is none, NoListing where the server lists no folders at all.
        """

    @abstractmethod
    def stat(self, path: str) -> Entry:
        """Return what is at a path. Raises NotThere when there is nothing."""

    @abstractmethod
    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file."""

    @abstractmethod
    def write(self, path: str, data: bytes) -> None:
        """Write a whole file, in the place of one that is there."""

    def create(self, path: str, data: bytes) -> None:
        """Write a whole file where nothing is yet. Raises ThereAlready where something is.

        This one looks, then writes; a kind that can do both in one step does so.
        """
        try:
            self.stat(path)
        except NotThere:
            self.write(path, data)
            return
        raise ThereAlready(f"there is something at {path!r}")

    @abstractmethod
    def delete(self, path: str) -> None:
        """Remove a file or an empty folder."""

    def remove_tree(self, path: str) -> None:
        """Remove a folder with all that is in it, at once: asked for where `list` raises NoListing.

        pileup asks only for the folder that a run has made for itself alone, after it has read its own marker in it.
        """
        raise NoListing(f"{path!r} cannot be removed with what is in it")

    @abstractmethod
    def mkdir(self, path: str) -> None:
        """Make a folder; one that is there already is fine."""
