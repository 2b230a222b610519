"""pileup from Python: suites checked and run, run folders read. Beside the command line, a second front door.

May import all layers below. It prints nothing, and reads the environment as the command line does.
"""

from pileup.api.comparison import Comparison
from pileup.api.opened import Run, open_run
from pileup.api.rows import Rows
from pileup.api.running import load, run

open = open_run  # noqa: A001  pileup.open, as gzip.open

__all__ = ["Comparison", "Rows", "Run", "load", "open", "run"]
