"""A suite file, in YAML or XML, to the one tree behind both."""

from __future__ import annotations

from pathlib import Path

from pileup.model.problem_codes import ProblemCode
from pileup.suite.formats.size_limits import LARGEST
from pileup.suite.formats.tree import Mapping, kind_of
from pileup.suite.formats.xml_reader import read_xml
from pileup.suite.formats.yaml_reader import read_yaml
from pileup.suite.problems import START, Problems


def read_file(path: Path, problems: Problems) -> bytes | None:
    """Return the file's bytes, never more than a suite may have."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as problem:
        problems.add(
            START,
            f"the suite cannot be read: {problem.strerror or problem}",
            "a file",
            "check its path and permissions",
            code=ProblemCode.SYNTAX,
        )
        return None
    if len(data) > LARGEST:
        problems.add(
            START,
            "the file is too large for a suite",
            f"at most {LARGEST // 1024 // 1024} MiB",
            code=ProblemCode.TOO_LARGE,
        )
        return None
    return data


def is_xml(data: bytes, suffix: str) -> bool:
    """Whether a file is read as XML: by its name, or because it begins with `<`, as no suite in YAML does."""
    begin = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:2]
    return suffix.lower() == ".xml" or (begin[:1] == b"<" and begin != b"<<")


def read_tree(data: bytes, suffix: str, problems: Problems) -> Mapping | None:
    """Return the words of a suite, in YAML or XML; None when it cannot be read, and problems say why."""
    problems = problems.of(ProblemCode.SYNTAX)
    node = read_xml(data, problems) if is_xml(data, suffix) else read_yaml(data, problems)
    if isinstance(node, Mapping):
        return node
    if not problems:
        what = "the file is empty" if node is None else f"the file holds {kind_of(node)}"
        problems.add(
            START if node is None else node.at,
            what,
            "a mapping that begins with `pileup: 1`",
            "see examples/first-run.yaml",
        )
    return None
