"""A monitor that records what the server says it did."""

from collections.abc import Iterator
from typing import Any

from pileup.plugin import Monitor, PluginError, Sample, option
from pileup_redis.target import OURS, RedisTarget

SECOND, MICROSECOND = 10**9, 10**3


class CommandLog(Monitor):
    """Commands of a Redis, out of its slow log (SLOWLOG), which is emptied at each look.

    Each is an operation by its name with its time in the server: `p99(redis-log.GET) < 1 ms`; the label `client` is the
    name of the connection, which is that of the test: `redis-log.GET[client=press]`. The slow log has the second in
    which a command began; the look before it narrows that to `every`. How long it took is exact to 1 us.

    | metric | unit | what |
    |---|---|---|
    | `commands` | /s | commands since the look before |
    | `forgotten` | | commands that the slow log had no room for (`slowlog-max-len`) |
    | `connections` | | connections of others |
    """

    name = "redis-log"
    records = True

    target: str = option(help="name of a target of the suite, of kind redis")

    def open(self) -> None:
        """Connect, and begin with an empty log."""
        watched = self.watched()
        if not isinstance(watched, RedisTarget):
            raise PluginError(f"{self.target} is not a Redis", "a target of kind redis")
        self._redis = watched.session(10)
        self._last = 0
        self._next: int | None = None
        list(self.sample())

    def lacks(self) -> str:
        """Say when the server keeps slow commands alone."""
        slower = int(self._redis.config_get("slowlog-log-slower-than")["slowlog-log-slower-than"])
        return f"only commands of {slower} us or more are in its slow log (slowlog-log-slower-than)" if slower else ""

    def sample(self) -> Iterator[Sample]:
        """Take what is in the log and empty it, at once."""
        both = self._redis.pipeline(transaction=True)
        logged, _, (seconds, micro) = both.slowlog_get(-1).slowlog_reset().time().execute()
        now, rows = seconds * SECOND + micro * MICROSECOND, logged[::-1]
        # the look before has emptied the log after its own SLOWLOG GET was in it: that one is not forgotten
        forgotten = rows[0]["id"] - self._next - 1 if rows and self._next is not None else 0
        self._next = rows[-1]["id"] + 1 if rows else self._next
        others = [row for row in rows if row["client_name"] != OURS.encode()]
        if self._last:
            yield from self._record(others, now)
            yield Sample("forgotten", forgotten)
        self._last = now
        yield Sample("connections", self._redis.info("clients")["connected_clients"] - 1)

    def _record(self, rows: list[dict[str, Any]], now: int) -> Iterator[Sample]:
        words = [row["command"].decode(errors="replace").split(" ", 2) for row in rows]
        starts = [max(row["start_time"] * SECOND, self._last) for row in rows]
        self.record_many(
            [each[0].upper() for each in words],
            [each[1] if len(each) > 1 else "" for each in words],
            start=starts,
            end=[start + row["duration"] * MICROSECOND for start, row in zip(starts, rows, strict=True)],
            labels=[{"client": row["client_name"].decode() or "unnamed"} for row in rows],
        )
        yield Sample("commands", len(rows) * SECOND / (now - self._last), "/s")

    def close(self) -> None:
        """Disconnect."""
        self._redis.close()
