"""The public surface for plug-ins: Test, Target, Monitor, Report, Exporter, Program, and what their options may be.

May import `model` only. No compiled code is needed to write or to test a plug-in.
"""

from pileup.model.errors import (
    Ambiguous,
    Failed,
    NoListing,
    NotThere,
    PluginError,
    Refused,
    TargetError,
    ThereAlready,
    VerdictException,
)
from pileup.model.program import ClientSpec, Content, Destination, Expect, Keys, Program, Step
from pileup.model.quantities import Bandwidth, Count, Duration, Fraction, Rate, Size
from pileup.model.record import Outcome, Sample
from pileup.model.results import RunResults
from pileup.model.sizes import Sizes
from pileup.plugin.exporter import Exporter, ExportTable
from pileup.plugin.launcher import Accepts, Answer, Daemon, Exists, File, Launcher, Line, Task
from pileup.plugin.monitor import Monitor
from pileup.plugin.operation import Ledger, Op, Operation
from pileup.plugin.options import TargetName, option
from pileup.plugin.program_client import Call, ProgramClient
from pileup.plugin.report import Report
from pileup.plugin.target import Entry, FileTarget, Target, no_folder, port_of
from pileup.plugin.test import Context, Test

__all__ = [
    "Accepts",
    "Ambiguous",
    "Answer",
    "Bandwidth",
    "Call",
    "ClientSpec",
    "Content",
    "Context",
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
    "PluginError",
    "Program",
    "ProgramClient",
    "Rate",
    "Refused",
    "Report",
    "RunResults",
    "Sample",
    "Size",
    "Sizes",
    "Step",
    "Target",
    "TargetError",
    "TargetName",
    "Task",
    "Test",
    "ThereAlready",
    "VerdictException",
    "no_folder",
    "option",
    "port_of",
]
