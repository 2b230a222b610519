"""`python -m pileup` is the command `pileup`."""

import sys

from pileup.cli import main

if __name__ == "__main__":
    sys.exit(main())
