"""The run folder: write, read, convert. Only this package knows the file names in it (docs/record.md).

May import `model` and `_core`.
"""

from pileup.record.folder import RunFolder
from pileup.record.operations import Operations
from pileup.record.output import Output
from pileup.record.recent import ErrorTail, RecentError
from pileup.record.tables import TableReader, TableWriter
from pileup.record.tail import Position

__all__ = ["ErrorTail", "Operations", "Output", "Position", "RecentError", "RunFolder", "TableReader", "TableWriter"]
