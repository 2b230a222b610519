"""A target is a system under test: its address, the credentials for it, and what its kind supports."""

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
from pileup.plugin.launcher import Launcher
from pileup.plugin.options import assign
from pileup.plugin.program_client import ProgramClient
from pileup.plugin.virtual_time import VirtualTime

NO_CLIENT = "this target has no client of the engine; expected a Python test, or a ProgramClient"
"""Why no native test can use a target, as "what; expected what"."""


class Target:
    """Base of all kinds of targets. Options are annotated fields; the docstring is the kind's page."""

    _framework: ClassVar[bool] = True
    kind: ClassVar[str] = ""
    """Name under which it is registered."""
    provides: ClassVar[frozenset[str]] = frozenset({"any"})
    """What tests may ask for in `needs`, in addition to the name of the kind."""
    scratch: ClassVar[bool] = False
    """Whether a folder of the run is the default url."""
    needs_url: ClassVar[bool] = True
    """Whether it has an address; if not, a suite gives it neither url nor launch."""

    launch_settings: ClassVar[Any] = None
    """Pydantic model of the settings of `launcher`, for `pileup describe` and for suggestions of names."""

    settable: ClassVar[tuple[str, ...]] = ()
    """Names of settings that `setting` returns and `change` sets, on a server that pileup did not launch."""

    refused: ClassVar[tuple[type[BaseException], ...]] = ()
    """Exceptions of its library that mean that the system refused: the outcome is refused, not failed."""
    ambiguous: ClassVar[tuple[type[BaseException], ...]] = ()
    """Exceptions that mean that no answer came, so it may have happened; TimeoutError need not be listed."""

    relayed: ClassVar[bool] = False
    """Whether its clients connect to `via` where there is one: only then a suite may give it a `path`."""
    not_relayed: ClassVar[str] = "has no connection to relay"
    """Why a suite cannot give it a `path`, as the rest of a sentence that begins with the kind."""
    copies: ClassVar[bool] = False
    """Whether the engine's client can have it copy files to another target, or fetch them from one."""
    via: str = ""
    """Address (HOST:PORT) of a relay to connect to in the place of `endpoint`; empty: there is none."""

    folder: Path | None = None
    """Folder of the server that pileup launched, `{folder}` of its launcher; None for other servers, and in other
    processes and on other hosts than that of the run.
    """

    url: str
    """Its address: from the suite, or that of the server that pileup launched."""
    credentials: Credentials
    """Credentials for it; secrets are read late and never shown."""

    def __init__(self, url: str = "", credentials: Credentials | None = None, **options: Any) -> None:
        self.url = url
        self.credentials = credentials or Credentials()
        assign(self, options)

    @classmethod
    def check_url(cls, url: str) -> None:
        """Refuse a url that no target of this kind can have, without connecting: called before a run.

        Raises TargetError, or ValueError with "what; expected what".
        """

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start a private server with these settings; None if this kind has no server with them.

        A kind may have a server, a machine in virtual time (`simulated`), or both; some settings may be those of the
        machine alone. A suite that needs a server where there is none is refused when its plan is made. Raises
        ValueError for a setting that is unknown or out of bounds.
        """
        return None

    def simulated(self, settings: Mapping[str, object], time: VirtualTime) -> Target | None:
        """Return what tests use in the place of this target in `pileup simulate`; None: the kind has no machine.

        It is a machine in virtual time: what `launcher` would start with these settings, with the methods that tests
        call, async ones where they wait. Nothing in it may wait for real. Called again when the settings change. Raises
        ValueError for a setting that is unknown or out of bounds.
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
        """Return the protocol of the engine for this target, and its settings; None: the engine cannot speak to it.

        Leave it out if the engine does not know the protocol: then native tests need a client from `program_client`,
        and Python tests call the methods of the class.
        """
        return None

    def remarks(self) -> list[str]:
        """Return remarks on this target for the screen and the report; called once it was reached."""
        return []

    def program_client(self) -> Callable[[int], ProgramClient] | None:
        """Return a function from a client's number to the client for native tests; None: the engine runs them.

        For targets whose users choose between clients. Preparation and clean-up of a load use the engine in any case.
        Raises PluginError when the software is not installed.
        """
        return None

    def preparing_client(self) -> Callable[[int], ProgramClient] | None:
        """Return what prepares and cleans up a load if the engine cannot reach the target; None: the engine does.

        By default `program_client` for a target without `client`. Raises PluginError when the software is not
        installed.
        """
        return self.program_client() if type(self).client is Target.client else None

    def problem_of(self, step: Step) -> str:
        """Return why the chosen client cannot do a step, as "what; expected what"; empty when it can.

        Called before a run, when the address may not be known. The default is for the engine, which needs `client`, and
        for a step with a second target `copies`.
        """
        if type(self).client is Target.client and type(self).program_client is Target.program_client:
            return NO_CLIENT
        if step.destination is not None and not self.copies:
            return f"the engine has no {step.verb} to a second target here; expected a target with a client that has it"
        return ""

    def problem_of_copy(self, to: Target) -> str:
        """Return why files cannot be copied to a second target, as "what; expected what"; empty when they can.

        Called before a run, when addresses may not be known.
        """
        return ""

    def outcome_of(self, problem: BaseException) -> Outcome | None:
        """Return what an exception of its library means if its class is not enough; None: as declared.

        Called for exceptions of other libraries that end operations and iterations of Python tests.
        """
        return None

    def probe(self) -> str:
        """Connect once and return what the target is (name, version). Raises TargetError when it cannot be reached."""
        return ""

    @classmethod
    def settings_of(cls, options: dict[str, object]) -> dict[str, tuple[str, ...]]:
        """Return the settings that a target with these options (as written) can change, with the allowed values.

        A name without values allows any. Settings of launched servers can be changed, too.
        """
        return dict.fromkeys(cls.settable, ())

    def setting(self, name: str) -> str | None:
        """Return the current value of a setting of `settings_of`, as `change` takes it; None: do not restore it.

        Raises TargetError when that fails.
        """
        raise NotImplementedError

    def change(self, name: str, value: str) -> None:
        """Change a setting of `settings_of` and return when it is in force. Raises TargetError when that fails.

        Called while nothing is under way; at the end of the run with the value of `setting` before the first change.
        """
        raise NotImplementedError


def offers(cls: type[Target]) -> frozenset[str]:
    """Return what tests may ask of a kind in `needs`: "connection" where sessions can be led through a relay."""
    return cls.provides | {"connection"} if cls.relayed else cls.provides


def port_of(parts: SplitResult) -> int | None:
    """Return the port of a split url, None if it has none. Raises TargetError for an invalid port."""
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        told = f"the url of {parts.hostname} has the port {parts.netloc.rpartition(':')[2][:20]!r}"
        raise TargetError(told, "a number from 1 to 65535", "correct the url")
    return port


def no_folder(url: str) -> TargetError:
    """Return what to raise for a url whose folder does not exist, the same for every protocol."""
    return TargetError(f"{url}: no such folder", "a folder that is there", "make it, or correct the url")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a listing. Size in bytes, 0 for folders."""

    name: str
    size: int
    folder: bool


class FileTarget(Target):
    """A target that stores files under paths: methods for Python tests. Paths are relative to the url."""

    _framework: ClassVar[bool] = True
    provides: ClassVar[frozenset[str]] = frozenset({"any", "files"})

    @abstractmethod
    def list(self, path: str) -> list[Entry]:
        """Return the entries of a folder, sorted by name.

        Raises NotThere when it does not exist, NoListing when the server does not list folders.
        """

    @abstractmethod
    def stat(self, path: str) -> Entry:
        """Return the entry at a path. Raises NotThere when there is none."""

    @abstractmethod
    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file."""

    @abstractmethod
    def write(self, path: str, data: bytes) -> None:
        """Write a whole file, replacing an existing one."""

    def create(self, path: str, data: bytes) -> None:
        """Write a whole file at a path that does not exist. Raises ThereAlready if it exists.

        By default it looks, then writes; override it if the system can do both in one step.
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
        """Remove a folder with its content, in one step: used if `list` raises NoListing.

        pileup calls it only for the run's own folder, after it has read its marker in it.
        """
        raise NoListing(f"{path!r} cannot be removed with what is in it")

    @abstractmethod
    def mkdir(self, path: str) -> None:
        """Make a folder; an existing one is fine."""

    def end_uploads(self, path: str) -> int:
        """End what clients have begun to write below a folder and never ended; return how many.

        For systems that keep such things beside the files, where no listing shows them. pileup calls it only for the
        run's own folder, after it has read its marker in it.
        """
        return 0
