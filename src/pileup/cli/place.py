"""pileup place: the far end of a fleet; pileup starts it itself."""

from __future__ import annotations

import click


@click.command("place", hidden=True)
@click.option("--shift", type=int, default=0, help="Set the clock wrong by so many ns, to try its correction.")
@click.option("--again", is_flag=True, hidden=True)
def command(shift: int, again: bool) -> None:
    """Be a place of a fleet for the pileup at stdin and stdout."""
    import faulthandler
    import os
    import sys

    from pileup.run.places.agent import serve

    source, sink = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what tests print past Python must not get between the messages
    faulthandler.enable()
    if os.getpgrp() != os.getpid():
        os.setsid()
    try:
        serve(source, sink, shift, again)
    finally:
        sys.stderr.flush()
    os._exit(0)  # threads of tests that hang must not keep it
