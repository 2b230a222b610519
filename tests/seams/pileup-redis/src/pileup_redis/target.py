"""A kind of target: Redis."""

import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import redis
import redis.asyncio
from pydantic import BaseModel, ConfigDict, Field
from redis.backoff import NoBackoff
from redis.retry import Retry

from pileup.plugin import Accepts, Daemon, Launcher, Outcome, Size, Target, TargetError

SERVER = "redis-server"
OURS = "pileup"
"""Name of connections that press nothing: those of the probe and of the monitor."""
FULL = redis.exceptions.OutOfMemoryError


class Settings(BaseModel):
    """Settings of a private server. It is empty at the start and keeps nothing on disk."""

    model_config = ConfigDict(extra="forbid")

    maxmemory: Size = Field(0, description="memory for data, beyond which it refuses to write; 0: no limit")
    maxclients: int = Field(1000, ge=1, description="most connections at once")


class RedisTarget(Target):
    """A Redis server: `redis://host:port/database`, `rediss://` with TLS.

    With `launch: {}` pileup starts one, which has every command in its slow log (monitor `redis-log`).
    Commands that it refuses for lack of memory, as a read-only replica or while it loads are *refused*.
    """

    kind = "redis"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "redis"})
    launch_settings = Settings
    settable = ("maxmemory",)
    refused = (FULL, redis.ReadOnlyError, redis.BusyLoadingError)
    ambiguous = (redis.TimeoutError,)

    @classmethod
    def check_url(cls, url: str) -> None:
        """Take addresses of Redis alone."""
        if not url.startswith(("redis://", "rediss://")):
            raise ValueError(f"{url} is not an address of Redis; expected redis://host:port")

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher:
        """Start one at a free port."""
        wanted = Settings.model_validate(settings)
        words: dict[str, Any] = {"bind": "127.0.0.1", "port": "{port}", "save": "", "slowlog-log-slower-than": 0}
        words |= {"slowlog-max-len": 1_000_000, "maxmemory": wanted.maxmemory, "maxclients": wanted.maxclients}
        command = [shutil.which(SERVER) or SERVER, *(text for key in words for text in (f"--{key}", str(words[key])))]
        return Launcher((Daemon(tuple(command), Accepts(), name=SERVER),), url="redis://127.0.0.1:{port}")

    def outcome_of(self, problem: BaseException) -> Outcome | None:
        """Know the answer to one connection too many, which is a ConnectionError as any other."""
        return Outcome.REFUSED if "max number of clients" in str(problem) else None

    def session(self, seconds: float, name: str = OURS) -> redis.Redis:
        """Return a client of one connection, made with the first command and made again after a fault."""
        return redis.Redis.from_url(self.url, **self._words(seconds, name))

    def asynchronous(self, seconds: float, name: str) -> redis.asyncio.Redis:
        """Return the same for an event loop."""
        return redis.asyncio.Redis.from_url(self.url, **self._words(seconds, name))

    def _words(self, seconds: float, name: str) -> dict[str, Any]:
        password = self.credentials.password
        who = {"username": self.credentials.user, "password": password and password.get_secret_value()}
        return {**who, "socket_timeout": seconds, "client_name": name, "retry": Retry(NoBackoff(), 0)}

    def probe(self) -> str:
        """Ask it for its version."""
        try:
            with closing(self.session(10)) as session:
                return f"redis {session.info('server')['redis_version']}"
        except redis.RedisError as problem:
            raise TargetError(f"{self.url} cannot be reached: {problem}", "an answer", "is the url right?") from problem

    def setting(self, name: str) -> str:
        """Return a setting of the server."""
        with closing(self.session(10)) as session:
            return str(session.config_get(name)[name])

    def change(self, name: str, value: str) -> None:
        """Change it."""
        with closing(self.session(10)) as session:
            session.config_set(name, value)
