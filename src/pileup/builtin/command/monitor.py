"""Numbers from any command."""

from __future__ import annotations

from collections.abc import Iterator

from pileup.builtin.monitors.numbers import LINE, Patterns, find_number, to_number
from pileup.plugin import Duration, Finished, Monitor, PluginError, Sample, option, split_command
from pileup.plugin.processes import execute
from pileup.plugin.units import format_time


class CommandMonitor(Monitor):
    """Run a command at every interval and take numbers from its output.

    By default every line `NAME VALUE [UNIT]` of stdout is a number (`NAME=VALUE` and `NAME: VALUE` too); labels may
    follow the name, as in `queue[pool=tape] 12 files`. Other lines are skipped. With `numbers`, regular expressions
    find the numbers instead. Metrics have the names of the numbers: `max(command.queue) < 100`, or, with `name: tape`
    in addition to `use: command`, `max(tape.queue) < 100`.

    A command that fails, takes longer than `timeout` or gives no number leaves a gap, and the reason is recorded. It
    runs without a shell (unless `shell: true`), and is ended with its whole process group.
    """

    name = "command"

    command: str | list[str] = option(
        help="the program and its arguments: a list, or a text that is split at spaces as a shell does"
    )
    shell: bool = option(False, help="run the command with /bin/sh: pipes, variables, wildcards")
    numbers: Patterns = option({}, help="name of a number: regular expression with one group that finds it in stdout")
    units: dict[str, str] = option({}, help="name of a number: its unit, for charts")
    timeout: Duration = option(10 * 10**9, gt=0, help="how long it may take")

    def check(self) -> None:
        """Refuse a command that cannot be split."""
        self._words = split_command(self.command, self.shell)

    def sample(self) -> Iterator[Sample]:
        """Run the command once. Raises PluginError when there is no number."""
        finished = self._execute()
        text = finished.stdout.text()
        found = list(self._picked(text) if self.numbers else self._lines(text))
        if not found:
            wanted = f"a match of {', '.join(self.numbers)}" if self.numbers else "lines like `queue 12 files`"
            raise PluginError(f"{self._words[0]!r} gave no number", wanted, f"it gave {text[:200]!r}")
        return iter(found)

    def _execute(self) -> Finished:
        try:
            finished = execute(self._words, seconds=self.timeout / 1e9)
        except FileNotFoundError:
            raise PluginError(f"there is no program {self._words[0]!r}", "one in PATH, or a path") from None
        except OSError as problem:
            raise PluginError(f"{self._words[0]!r} cannot be started: {problem.strerror}", "a program") from None
        if finished.code is None:
            raise PluginError(f"{self._words[0]!r} took longer than {format_time(self.timeout)}", hint="see `timeout`")
        if finished.code != 0:
            said = finished.stderr.text().strip()[:200]
            raise PluginError(f"{self._words[0]!r} ended with exit code {finished.code}", "0", said)
        return finished

    def _picked(self, text: str) -> Iterator[Sample]:
        for name, pattern in self.numbers.items():
            value = find_number(pattern, (text,))
            if value is not None:
                yield Sample(name, value, self.units.get(name, ""))

    def _lines(self, text: str) -> Iterator[Sample]:
        for line in text.splitlines():
            match = LINE.match(line.strip())
            value = to_number(match["value"]) if match else None
            if match and value is not None:
                name = match["name"]
                yield Sample(name, value, match["unit"] or self.units.get(name, ""), _labels(match["labels"] or ""))


def _labels(text: str) -> str:
    """Return labels in their normal form: sorted, without spaces or quotes."""
    parts = (part.strip().replace('"', "") for part in text.split(","))
    return ",".join(sorted(part for part in parts if "=" in part))
