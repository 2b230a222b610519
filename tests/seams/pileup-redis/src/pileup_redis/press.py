"""Tests of one Redis: keys of the run's own, written and read."""

import time
from contextlib import closing

import redis

from pileup.plugin import Op, Size, Test, option

AT_ONCE = 1000
"""Keys of one request that makes or removes them."""


class Keys(Test):
    """Make keys once in a run, for all clients, and remove them at its end."""

    keys: int = option(100, ge=1, le=1_000_000, help="number of keys that all clients share")
    size: Size = option("100 B", ge=1, le=512 << 20, help="size of a value")

    def begin_run(self) -> dict[str, object]:
        """Write all of them."""
        prefix = f"pileup:{self.stamp}"
        with closing(self.target.session(self.context.timeout / 1e9)) as session:
            for begin in range(0, self.keys, AT_ONCE):
                end = min(begin + AT_ONCE, self.keys)
                session.mset({f"{prefix}:{number}": bytes(self.size) for number in range(begin, end)})
        return {"prefix": prefix}

    def key(self) -> str:
        """Return one of them, by chance."""
        return f"{self.shared['prefix']}:{self.context.random.randrange(self.keys)}"

    def end_run(self) -> None:
        """Remove them wherever they are."""
        for target in self.targets.values() or [self.target]:
            with closing(target.session(self.context.timeout / 1e9)) as session:
                for begin in range(0, self.keys, AT_ONCE):
                    session.delete(*(f"{self.shared['prefix']}:{begin + number}" for number in range(AT_ONCE)))


class SetGet(Keys):
    """Write a value and read it again.

    The operations are `set` and `get`. The check `own value` counts how often another client has written between the
    two: `fraction(TEST.check.own_value.failed)`.
    """

    needs = "redis"

    def setup(self) -> None:
        """Make a client; it connects in the first iteration."""
        self._redis = self.target.session(self.context.timeout / 1e9, self.context.name)
        self._value = self.context.random.randbytes(self.size)

    def run(self, op: Op) -> None:
        """Write and read."""
        key = self.key()
        try:
            with op("set", key) as setting:
                self._redis.set(key, self._value)
                setting.bytes, setting.calls = self.size, 1
            with op("get", key) as getting:
                found = self._redis.get(key) or b""
                getting.bytes, getting.calls = len(found), 1
        except redis.ConnectionError:
            time.sleep(0.1)  # a closed load would try again without a pause
            raise
        assert len(found) == self.size
        op.check("own value", found == self._value)

    def teardown(self) -> None:
        """Disconnect."""
        self._redis.close()


class Many(Keys):
    """Read several values by one request; all clients share an event loop."""

    needs = "redis"

    batch: int = option(10, ge=1, le=10_000, help="values of a request")

    async def setup(self) -> None:
        """Make a client."""
        self._redis = self.target.asynchronous(self.context.timeout / 1e9, self.context.name)

    async def run(self, op: Op) -> None:
        """Read a batch."""
        async with op("batch") as reading:
            found = await self._redis.mget([self.key() for _ in range(self.batch)])
            reading.bytes, reading.calls = sum(len(value or b"") for value in found), 1
        self.expect(None not in found, "a key of the run is gone")

    async def teardown(self) -> None:
        """Disconnect."""
        await self._redis.aclose()
