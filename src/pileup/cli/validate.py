"""pileup validate: is the suite right, and if not, every fault."""

from __future__ import annotations

import click

from pileup.cli.messages import echo


@click.command("validate")
@click.argument("suite")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a variable, or a word of the suite by its path."
)
@click.option("--static", is_flag=True, help="Import no Python file that the suite names; its options are not checked.")
def command(suite: str, settings: tuple[str, ...], static: bool) -> None:
    """Check SUITE (a file, or suite:NAME) and tell every fault with its line. Nothing is run.

    Plug-ins that the suite names are loaded, also those from files beside it: a suite is code. With --static none of
    those files is imported.
    """
    from pileup.cli.common import parse_settings
    from pileup.model.not_covered import words
    from pileup.suite import load
    from pileup.suite.shipped import suite_path

    plan = load(suite_path(suite), parse_settings(settings), imports=not static)
    parts = [
        counted(len(plan.suite.tests), "test", "tests"),
        counted(len(plan.suite.targets), "target", "targets"),
        counted(len(plan.suite.monitors), "monitor", "monitors"),
        counted(len(plan.suite.criteria), "criterion", "criteria"),
    ]
    echo(f"valid: {', '.join(parts)}")
    for line in words(plan.uncovered):
        echo(line)


def counted(number: int, one: str, many: str) -> str:
    """Return `1 test` or `2 tests`."""
    return f"{number} {one if number == 1 else many}"
