"""A test of two targets."""

from contextlib import ExitStack, closing

from pileup.plugin import Op
from pileup_redis.press import Keys


class Copy(Keys):
    """Copy values from one Redis to another as they are stored: DUMP there, RESTORE here."""

    needs = {"source": "redis", "to": "redis"}  # noqa: RUF012

    def setup(self) -> None:
        """Make a client of each."""
        seconds, self._open = self.context.timeout / 1e9, ExitStack()
        sessions = {word: target.session(seconds, self.context.name) for word, target in self.targets.items()}
        self._source, self._to = (self._open.enter_context(closing(sessions[word])) for word in ("source", "to"))

    def run(self, op: Op) -> None:
        """Copy one value."""
        key = self.key()
        with op("dump", key) as dumping:
            stored = self._source.dump(key) or b""
            dumping.bytes = len(stored)
        with op("restore", key) as restoring:
            self._to.restore(key, 0, stored, replace=True)
            restoring.bytes = len(stored)
        self.report("stored", len(stored), "B", place=self.context.place)

    def teardown(self) -> None:
        """Disconnect."""
        self._open.close()
