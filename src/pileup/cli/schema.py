"""pileup schema: the JSON Schema of the suite file, for editors."""

from __future__ import annotations

import json

import click

from pileup.cli.messages import echo


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the suite file: words, types, units, descriptions, what is not built yet.

    Editors with a YAML language server take it by a first line in the suite:
    `# yaml-language-server: $schema=pileup.schema.json`
    """
    from pileup.suite import suite_schema

    echo(json.dumps(suite_schema(), indent=2, ensure_ascii=False))
