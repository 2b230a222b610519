"""What the labels of the suites that come with pileup say: five features of a use, each with a fixed vocabulary.

The features are those by which GridPP, ATLAS and DPM compared their frameworks for I/O tests. Labels of other suites
are free words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pileup.suite.formats.reading import read_tree
from pileup.suite.formats.tree import Mapping as Tree
from pileup.suite.formats.tree import Scalar
from pileup.suite.problems import Problems

VOCABULARY: Mapping[str, Mapping[str, str]] = {
    "automation": {
        "manual": "somebody starts it and reads the report",
        "automatic": "it runs unattended, from cron or in CI, and its exit code is the result",
    },
    "scale": {
        "single": "one thing at a time: a check",
        "small": "a load that shows an effect on a machine of two cores",
        "stress": "a load meant to find a limit",
        "full": "the size and the time of the original study",
    },
    "environment": {
        "test": "servers for tests, by default those that pileup starts",
        "production": "services in use: it leaves nothing behind, and presses nothing",
        "simulation": "machines in virtual time",
    },
    "instrumentation": {
        "client": "what clients see",
        "middleware": "what the service itself says, too: its counters, queues, logs",
        "hardware": "machines, disks and networks, too",
    },
    "realism": {
        "check": "whether it works",
        "model": "a model of a system",
        "protocol": "the requests of real clients, on data made for it",
        "application": "files and reading patterns of real software",
    },
}
"""Label -> its words -> what each means."""


def labels_of(path: Path) -> dict[str, str]:
    """Return the labels of a suite that can be read."""
    tree = read_tree(path.read_bytes(), path.suffix, Problems(str(path)))
    found = tree.entries.get("labels") if tree is not None else None
    if not isinstance(found, Tree):
        return {}
    return {name: node.text for name, node in found.entries.items() if isinstance(node, Scalar)}
