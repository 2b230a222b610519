"""pileup schema: the JSON Schema of the suite file, for editors, and that of results.json, for programs."""

from __future__ import annotations

import json

import click

from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo


@click.command(
    "schema",
    cls=Command,
    examples=[
        ("a file for your editor", "pileup schema > pileup.schema.json"),
        ("what results.json holds", "pileup schema results | less"),
    ],
    page="suite-file.md",
)
@click.argument("which", type=OneOf(["suite", "results"]), default="suite")
def command(which: str) -> None:
    """Print the JSON Schema of suites, or of results.

    Of suites: words, types, units, descriptions, and what is not built yet. Editors with a YAML language server take it
    by a first line in the suite, which suites of `pileup new` have:
    `# yaml-language-server: $schema=pileup.schema.json`
    """
    if which == "results":
        from pileup.model.results_schema import results_schema

        found = results_schema()
    else:
        from pileup.suite import suite_schema

        found = suite_schema()
    echo(json.dumps(found, indent=2, ensure_ascii=False))
