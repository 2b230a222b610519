"""pileup schema: the JSON Schema of the suite file, for editors."""

from __future__ import annotations

import json

import click

from pileup.cli.command import Command
from pileup.cli.messages import echo


@click.command(
    "schema",
    cls=Command,
    examples=[
        ("a file for your editor", "pileup schema > pileup.schema.json"),
        ("to read", "pileup schema | less"),
    ],
    page="suite-file.md",
)
def command() -> None:
    """Print the JSON Schema of suites, for editors.

    Words, types, units, descriptions, and what is not built yet. Editors with a YAML language server take it by a
    first line in the suite, which suites of `pileup new` have:
    `# yaml-language-server: $schema=pileup.schema.json`
    """
    from pileup.suite import suite_schema

    echo(json.dumps(suite_schema(), indent=2, ensure_ascii=False))
