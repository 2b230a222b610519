"""What `pileup check URL` and `pileup bench URL` share: options, and the run of the suite that they stand for."""

from __future__ import annotations

import hashlib
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pileup.cli.arguments import RUNS
from pileup.cli.config import endpoints, environment
from pileup.cli.ending import summary_option
from pileup.cli.messages import echo

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pileup.suite.quick import Endpoint


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the endpoints of the configuration, and folders."""
    from click.shell_completion import CompletionItem

    found = [CompletionItem(name, help=each.url) for name, each in endpoints().items() if name.startswith(incomplete)]
    return [*found, CompletionItem(incomplete, type="dir")]


NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""What the name of an endpoint looks like."""
SCREEN = re.compile(r"--(show|quiet|json|summary(=.*)?)")
DISCOVER = "discover"
"""Credentials as the user's environment has them."""
SHARED = (
    click.argument("url", metavar="URL|NAME", shell_complete=_complete),
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
    RUNS,
    click.option("--quiet", is_flag=True, help="No progress; only the results and the run folder."),
    summary_option,
    click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object."),
)
"""Argument and options of both."""


def shared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command what both have."""
    for each in reversed(SHARED):
        function = each(function)
    return function


def said() -> str:
    """Return the command as the user has typed it, without what is about the screen alone."""
    typed = sys.argv[1:]
    pairs = zip(["", *typed], typed, strict=False)
    words = [word for before, word in pairs if before != "--summary" and not SCREEN.fullmatch(word)]
    return shlex.join(["pileup", *words])


def endpoint(url: str, kind: str | None, token: str | None, proxy: str | None, ca: str | None) -> Endpoint:
    """Return the system at a url, or that of a name in the configuration; options win over what that says.

    Raises UsageError.
    """
    from pileup.suite.quick import Endpoint

    named = endpoints().get(url)
    if named is None:
        if NAME.fullmatch(url):
            _no_endpoint(url)
        return Endpoint.at(url, kind, credentials(token, proxy, ca))
    given = credentials(token or named.token, proxy or named.proxy, ca or named.ca)
    return Endpoint.at(named.url, kind or named.kind, given)


def _no_endpoint(name: str) -> NoReturn:
    """Raise UsageError for a word that is no url."""
    from pileup.model.errors import UsageError
    from pileup.model.nearest import nearest
    from pileup.suite.quick import KNOWN

    near = " or ".join(map(repr, nearest(name, endpoints())))
    path = Path(name)
    hint = f"{path.resolve()} for the folder" if path.exists() else "`pileup list endpoints` lists your own names"
    raise UsageError(f"{name!r} is neither a URL nor one of your endpoints", near or KNOWN, hint)


def credentials(token: str | None, proxy: str | None, ca: str | None) -> dict[str, str]:
    """Return the credentials of a target, as file names. Raises UsageError for anything else, without showing it."""
    from pileup.model.errors import UsageError

    found = {}
    for option, word, value in (("token", "token_file", token), ("proxy", "proxy", proxy), ("ca", "ca", ca)):
        if value == DISCOVER:
            found[option] = value
        elif value is not None:
            path = Path(value).expanduser()
            if not path.exists():
                raise UsageError(f"--{option} names no file that is there", f"{DISCOVER} or a file", "is it right?")
            found[word] = str(path.absolute())
    return found


def conduct_text(
    context: click.Context,
    text: str,
    name: str,
    save: Path | None,
    show: bool,
    out: Path | None,
    quiet: bool,
    summary: str,
    as_json: bool,
) -> None:
    """Run a suite that is a text, or print it. Exits as `pileup run` does.

    The suite is kept where the user wants it, else beside the run folders: `resume` and `clean` need it.
    """
    from pileup.cli.run import run_suite
    from pileup.model.errors import UsageError
    from pileup.run.start import runs_folder

    if save is not None:
        _keep(text, save)
    if show:
        echo(text, nl=False)
        return
    path = save
    if path is None:
        path = runs_folder(out, environment()) / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.yaml"
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise UsageError(
                f"the suite cannot be written to {path}: {problem.strerror}",
                "room and leave to write there",
                "--out DIR",
            ) from problem
    if not quiet and not as_json:
        echo(text, err=True)
    run_suite(context, str(path), {}, None, out, quiet, summary, as_json)


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
