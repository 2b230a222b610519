"""What `pileup check URL` and `pileup bench URL` share: options, and the run of the suite that they stand for."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pileup.cli.messages import echo

DISCOVER = "discover"
"""Credentials as the user's environment has them."""
SHARED = (
    click.argument("url"),
    click.option("--kind", help="What the url is, where it does not say so: webdav, http, arc, slurm, ..."),
    click.option("--token", metavar="discover|FILE", help="Bearer token: your own, or that in a file."),
    click.option("--proxy", metavar="discover|FILE", help="X.509 proxy: your own, or that in a file."),
    click.option(
        "--ca", metavar="discover|PATH", help="Who signs the certificate of the server [default: the system's]."
    ),
    click.option(
        "--save", type=click.Path(path_type=Path, dir_okay=False), help="Keep the suite in this file, to grow from."
    ),
    click.option("--show", is_flag=True, help="Print the suite, and do not run it."),
    click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder for run folders [default: $PILEUP_RUNS, else ./runs].",
    ),
    click.option("--quiet", is_flag=True, help="No progress; only the results and the run folder."),
    click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object."),
)
"""Argument and options of both."""


def shared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command what both have."""
    for each in reversed(SHARED):
        function = each(function)
    return function


def said() -> str:
    """Return the command as the user has typed it."""
    words = [word for word in sys.argv[1:] if word not in ("--show", "--quiet", "--json")]
    return shlex.join(["pileup", *words])


def credentials(token: str | None, proxy: str | None, ca: str | None) -> dict[str, str]:
    """Return the credentials of a target; a token never is on a command line, but the name of its file."""
    own = {"token": token} if token == DISCOVER else {"token_file": token}
    given = {**own, "proxy": proxy, "ca": ca}
    return {name: value if value == DISCOVER else str(Path(value).absolute()) for name, value in given.items() if value}


def conduct_text(
    context: click.Context,
    text: str,
    name: str,
    save: Path | None,
    show: bool,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a suite that is a text, or print it; keep it where the user wants it. Exits as `pileup run` does."""
    import tempfile

    from pileup.cli.run import conduct
    from pileup.run import Runner
    from pileup.run.recovery.leftovers import sweep
    from pileup.run.start import planned, runs_folder
    from pileup.run.stop import Stop

    if save is not None:
        _keep(text, save)
    if show:
        echo(text, nl=False)
        return
    stop = Stop()
    with tempfile.TemporaryDirectory(prefix="pileup-") as folder:
        path = save or Path(folder) / f"{name}.yaml"
        if save is None:
            path.write_text(text, encoding="utf-8")
        plan, base = planned(str(path), {}, None, os.environ), runs_folder(out, os.environ)
        for line in sweep():
            echo(line, err=True)
        if not quiet and not as_json:
            echo(text, err=True)
        conduct(context, Runner(plan, base, stop), stop, quiet, as_json)


def _keep(text: str, path: Path) -> None:
    """Write the suite to a file that is not there yet. Raises UsageError."""
    from pileup.model.errors import UsageError

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"--save {path}: there is such a file already", "a new file", "give it another name") from None
    except OSError as problem:
        raise UsageError(f"--save {path}: {problem.strerror}", "a file that you may write", "--save FILE") from problem
