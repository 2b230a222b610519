"""What `pip install` of the sources calls: maturin, once the Rust that it needs is there.

Without this, pip would show pages of cargo's output where rustc is too old, and download a Rust where there is none.
"""

import os
import sys

from maturin import *  # noqa: F403 - the hooks of PEP 517 are maturin's
from rust import fault
from trained import settings

problem = fault()
if problem:
    sys.exit(f"\n{problem}\n")
os.environ.update(settings())
