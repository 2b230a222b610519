"""pileup list: the plug-ins that are installed."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from pileup.cli.messages import echo

if TYPE_CHECKING:
    from pileup.plugin.registry import Found

KINDS = ("tests", "targets", "monitors", "reports", "charts", "exporters")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
def command(kind: str | None) -> None:
    """List the plug-ins of a KIND (all when left out), a line each; those that cannot be loaded with the reason."""
    from pileup.plugin.registry import find_all

    for number, each in enumerate([kind] if kind else KINDS):
        if number:
            echo()
        found = list(find_all(each))
        echo(f"{each}:" if found else f"{each}: none is installed")
        width = max((len(plugin.name) for plugin in found), default=0)
        for plugin in found:
            echo(f"  {plugin.name:<{width}}  {line(plugin)}{origin(plugin)}")


def line(plugin: Found) -> str:
    """Return the first line of a plug-in's page, or why it is unavailable."""
    if plugin.cls is None:
        return f"unavailable: {plugin.reason}"
    page = inspect.getdoc(plugin.cls) if plugin.cls.__doc__ else None
    return page.splitlines()[0] if page else "(no description)"


def origin(plugin: Found) -> str:
    """Say which package a plug-in is from, when it is not ours."""
    return f"  [{plugin.package}]" if plugin.package not in ("", "pileup") else ""
