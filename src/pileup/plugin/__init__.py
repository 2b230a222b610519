"""The public surface for plug-ins: Test, Target, Monitor, Report, Exporter, Program, and what their options may be.

It may import only `model`. You need no compiled code to write or test a plug-in. Modules beside it have what only some
need: `results` (what reports are given), `units`, `credentials`, `verbs`, `batch`, `catalogue`, `logs`, `sessions`
(traced ones), `packets` (events handed out to workers), `charts`, `testing`.
"""

from typing import TYPE_CHECKING, Any

from pileup.model.cause import Cause
from pileup.model.check import FIELDS
from pileup.model.errors import (
    Ambiguous,
    Failed,
    NoListing,
    NotThere,
    PileupError,
    PluginError,
    Refused,
    TargetError,
    ThereAlready,
    VerdictException,
)
from pileup.model.law import TimeLaw
from pileup.model.program import CHECKSUM, ClientSpec, Content, Destination, Expect, Keys, Program, Step
from pileup.model.quantities import Bandwidth, Count, Duration, Fraction, Rate, Size
from pileup.model.record import Outcome, Sample
from pileup.model.sizes import Sizes
from pileup.model.suite_part import Part
from pileup.plugin.commands import Finished, run_command, split_command
from pileup.plugin.coordinator import Ask, Coordinator, Reply
from pileup.plugin.exporter import Exporter, ExportTable
from pileup.plugin.launcher import Accepts, Answer, Daemon, Exists, File, Launcher, Line, Task
from pileup.plugin.monitor import Monitor
from pileup.plugin.operation import Ledger, Op, Operation
from pileup.plugin.options import option
from pileup.plugin.program_client import Call, ProgramClient
from pileup.plugin.report import Report
from pileup.plugin.target import Entry, FileTarget, Target, no_folder, port_of
from pileup.plugin.test import Context, Test
from pileup.plugin.virtual_time import VirtualTime

if TYPE_CHECKING:
    from pileup.model.results import RunResults

__all__ = [
    "CHECKSUM",
    "FIELDS",
    "Accepts",
    "Ambiguous",
    "Answer",
    "Ask",
    "Bandwidth",
    "Call",
    "Cause",
    "ClientSpec",
    "Content",
    "Context",
    "Coordinator",
    "Count",
    "Daemon",
    "Destination",
    "Duration",
    "Entry",
    "Exists",
    "Expect",
    "ExportTable",
    "Exporter",
    "Failed",
    "File",
    "FileTarget",
    "Finished",
    "Fraction",
    "Keys",
    "Launcher",
    "Ledger",
    "Line",
    "Monitor",
    "NoListing",
    "NotThere",
    "Op",
    "Operation",
    "Outcome",
    "Part",
    "PileupError",
    "PluginError",
    "Program",
    "ProgramClient",
    "Rate",
    "Refused",
    "Reply",
    "Report",
    "RunResults",
    "Sample",
    "Size",
    "Sizes",
    "Step",
    "Target",
    "TargetError",
    "Task",
    "Test",
    "ThereAlready",
    "TimeLaw",
    "VerdictException",
    "VirtualTime",
    "no_folder",
    "option",
    "port_of",
    "run_command",
    "split_command",
]


def __getattr__(name: str) -> Any:
    """Import the results of runs for those that name them: reports and charts."""
    if name == "RunResults":
        from pileup.model.results import RunResults  # noqa: PLC0415  a tenth of what `pileup validate` takes

        return RunResults
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
