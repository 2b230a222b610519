"""Sessions of the engine's own clients for Python: one for each thread, and what goes wrong as a verdict."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pileup.plugin import Ambiguous, Cause, ClientSpec, Failed, NotThere, Refused, TargetError, ThereAlready


class ControlSessions(ABC):
    """Sessions of one target: each thread has its own, connected when it is first used."""

    def __init__(self) -> None:
        self._local = threading.local()

    @abstractmethod
    def made(self) -> Any:
        """Return a new session. Raises ValueError for settings that cannot be used."""

    @contextmanager
    def session(self, about: str) -> Iterator[Any]:
        """Lend the session of this thread for requests about something; what goes wrong is raised as a verdict.

        Raises Failed, Refused, Ambiguous; TargetError for settings that cannot be used.
        """
        try:
            yield self._own()
        except FileNotFoundError as problem:
            raise NotThere(f"there is nothing at {about}") from problem
        except FileExistsError as problem:
            raise ThereAlready(f"{about}: {problem}") from problem
        except PermissionError as problem:
            refused = Refused(f"{about}: {problem}").because(Cause(getattr(problem, "cause", Cause.NONE)))
            raise refused from problem
        except TimeoutError as problem:
            self.close()
            raise Ambiguous(f"{about}: {problem}") from problem
        except OSError as problem:
            raise Failed(f"{about}: {problem}") from problem

    def close(self) -> None:
        """End the session of this thread, if there is one."""
        session = getattr(self._local, "session", None)
        self._local.session = None
        if session is not None:
            with suppress(OSError):
                session.close()

    def _own(self) -> Any:
        session = getattr(self._local, "session", None)
        if session is None:
            try:
                session = self.made()
            except ValueError as problem:
                raise TargetError(str(problem)) from problem
            self._local.session = session
        return session


class EngineSessions(ControlSessions):
    """Sessions of a protocol of the engine."""

    def __init__(self, client: ClientSpec, patience: float) -> None:
        """`client` is the protocol with its settings; every call ends within `patience` seconds."""
        super().__init__()
        self._client, self._patience = client, patience

    def made(self) -> Any:
        """Return a new session of the engine."""
        # here, so that the kind can be described where the engine is not built
        from pileup._core import _native  # noqa: PLC0415

        return _native.Session(self._client.protocol, json.dumps(self._client.settings), self._patience)
