"""`python -m pileup` is the command `pileup`."""

from pileup.cli import run_and_exit

if __name__ == "__main__":
    run_and_exit()
