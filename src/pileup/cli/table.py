"""The table of commands: where each is, and its first line; nothing of a command is imported to list it."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """Where a command is, and what it is for: the first line of its help, under 50 characters."""

    module: str
    says: str


GROUPS: dict[str, dict[str, Entry]] = {
    "Run": {
        "check": Entry("pileup.cli.check", "Check the system at a URL"),
        "bench": Entry("pileup.cli.bench", "Measure one operation of the system at a URL"),
        "run": Entry("pileup.cli.run", "Run a suite and judge it"),
        "simulate": Entry("pileup.cli.simulate", "Run a suite in virtual time"),
        "try": Entry("pileup.cli.try_out", "Run one iteration of a test in the foreground"),
        "trace": Entry("pileup.cli.trace.command", "Count the round trips of a session"),
        "watch": Entry("pileup.cli.watch", "Show the screen of a run that goes on"),
        "resume": Entry("pileup.cli.resume", "Go on with a run that was stopped or crashed"),
    },
    "Write suites": {
        "new": Entry("pileup.cli.new", "Create a working suite or plug-in"),
        "validate": Entry("pileup.cli.validate", "Report every mistake in a suite"),
        "plan": Entry("pileup.cli.plan", "Show what a run would do, and for how long"),
        "list": Entry("pileup.cli.list", "List plug-ins, suites, runs or endpoints"),
        "describe": Entry("pileup.cli.describe", "Explain a plug-in, a suite, a key or a mistake"),
        "convert": Entry("pileup.cli.convert", "Write a suite as XML, or as YAML"),
        "schema": Entry("pileup.cli.schema", "Print the JSON Schema of suites, or of results"),
    },
    "Read results": {
        "show": Entry("pileup.cli.show.command", "Show the results of a run"),
        "report": Entry("pileup.cli.report", "Write a report of a run"),
        "export": Entry("pileup.cli.export.command", "Write tables and charts of a run as files"),
        "compare": Entry("pileup.cli.compare.command", "Compare runs with a baseline"),
        "model": Entry("pileup.cli.model", "Predict another setting from a record"),
        "verify": Entry("pileup.cli.verify", "Check that the record of a run is complete"),
        "merge": Entry("pileup.cli.merge", "Pool runs of one suite as repeats, or as places"),
    },
    "Practice and maintenance": {
        "practice": Entry("pileup.cli.practice", "Start a server whose behaviour is known"),
        "relay": Entry("pileup.cli.relay", "Put a distance before any TCP server"),
        "clean": Entry("pileup.cli.clean", "Clean up after a run"),
        "help": Entry("pileup.cli.help", "Explain a command or a topic"),
        "completion": Entry("pileup.cli.completion", "Print completion for bash, zsh or fish"),
        "man": Entry("pileup.cli.man", "Show the manual page of a command"),
        "place": Entry("pileup.cli.place", ""),
    },
}
"""Title of a group -> name of a command -> where it is. A new command is one line here; one that says nothing is not
listed: pileup itself calls it."""

COMMANDS: dict[str, Entry] = {name: entry for group in GROUPS.values() for name, entry in group.items()}

TOPICS = {
    "exit-codes": "what the exit code of a command says",
    "environment": "variables that pileup reads",
    "config": "runs folder, defaults and named endpoints",
    "units": "how times, sizes and rates are written",
    "selectors": "what a criterion may be about",
    "json": "the keys of what `--json` prints",
}
"""Topic of `pileup help` -> what it is about."""

LATER = ("push", "pull", "history", "serve", "probe")
"""Commands of later parts."""
