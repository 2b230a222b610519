"""The page of mistakes in suites: what each code says, with a wrong and a right line."""

from __future__ import annotations

from pileup.cli.pages.page import Block, Code, Heading, Page, Table, Words
from pileup.model.problem_codes import ProblemCode

MEANING: dict[ProblemCode, tuple[str, str]] = {
    ProblemCode.SYNTAX: (
        "The file cannot be read as YAML, or as XML. Nothing behind that place is looked at.",
        "check: max(copy.response[place=n2]) < 1 s     # wrong within { }: [ begins a list\n"
        'check: "max(copy.response[place=n2]) < 1 s"',
    ),
    ProblemCode.TOO_LARGE: (
        "The file, or what its aliases come to, is larger than a suite may be, or has more mistakes than are listed.",
        "",
    ),
    ProblemCode.DUPLICATE_KEY: ("A key is twice in one mapping. Remove one of them.", ""),
    ProblemCode.UNKNOWN_KEY: (
        "A key that there is not at this place: misspelled, or indented too far or too little. "
        "`pileup describe suite` lists the keys.",
        "load: {clients: 4, fro: 10 s}     # wrong\nload: {clients: 4, for: 10 s}",
    ),
    ProblemCode.MISSING_KEY: (
        "A key that must be there is not.",
        "- {use: noop}                     # wrong: no name\n- {name: first, use: noop}",
    ),
    ProblemCode.RESERVED_KEY: (
        "The key is a part of the format that is not built yet. It is refused, so that nobody counts on it.",
        "",
    ),
    ProblemCode.WRONG_TYPE: (
        "A text where a list is expected, a mapping where a number is, and the like.",
        "after: fill                       # wrong\nafter: [fill]",
    ),
    ProblemCode.WRONG_QUANTITY: (
        "A time, size or rate without a unit, or with a unit of something else. `pileup help units` lists them.",
        "for: 10 mins                      # wrong\nfor: 10 min",
    ),
    ProblemCode.OUT_OF_RANGE: (
        "A number is too small or too large, or a list too short.",
        "clients: 0                        # wrong\nclients: 1",
    ),
    ProblemCode.WRONG_VALUE: (
        "A value that this key does not take, or several that do not go together: the message says which.",
        "",
    ),
    ProblemCode.BAD_NAME: (
        "A name has other signs than letters, digits, `_` and `-`, begins with a digit, or is longer than 64.",
        "name: copy files                  # wrong\nname: copy-files",
    ),
    ProblemCode.DUPLICATE_NAME: (
        "Two tests, monitors, criteria or faults have the same name. Checks could not distinguish them.",
        "",
    ),
    ProblemCode.UNKNOWN_NAME: (
        "A test, target, monitor or item is named that the suite does not have.",
        "after: [fil]                      # wrong: the test is called fill\nafter: [fill]",
    ),
    ProblemCode.UNKNOWN_VARIABLE: (
        "A variable is used, or set by `--set`, that `variables` does not have. A dollar sign itself is `$$`.",
        "variables: {clients: 4}\nload: {clients: $client}          # wrong\nload: {clients: $clients}",
    ),
    ProblemCode.VARIABLE: (
        "A variable is used before it has a value, has none, comes to a text that is too long, or cannot be computed.",
        "",
    ),
    ProblemCode.UNKNOWN_PLUGIN: (
        "There is no test, kind of target, monitor or report of that name, or it cannot be loaded here: the message "
        "says why. `pileup list` shows all of them.",
        "use: storage.raed                 # wrong\nuse: storage.read",
    ),
    ProblemCode.BROKEN_PLUGIN: (
        "A plug-in raises an exception when it is loaded or made. The message has file and line.",
        "",
    ),
    ProblemCode.UNKNOWN_OPTION: (
        "The plug-in has no such option. `pileup describe NAME` lists those that it has.",
        "options: {file: 10}               # wrong\noptions: {files: 10}",
    ),
    ProblemCode.WRONG_OPTION: (
        "The plug-in refuses its options: each alone is right, and they do not go together.",
        "",
    ),
    ProblemCode.CONFLICT: ("Two words say what only one of them can.", ""),
    ProblemCode.ORDER: (
        "Tests need each other in a circle by `after`, so none of them can begin.",
        "- {name: a, use: noop, after: [b]}\n- {name: b, use: noop, after: [a]}     # wrong: remove one of both",
    ),
    ProblemCode.TARGET: (
        "A target has no address or two, its url is wrong or of another protocol, or it does not provide what a "
        "test needs.",
        "se: {kind: posix, url: https://se01.site.org/}     # wrong\nse: {url: https://se01.site.org/}",
    ),
    ProblemCode.CHECK: (
        "A check cannot be read, or asks for a figure that there is not. `pileup help selectors` has the grammar.",
        "check: p99(copy.response) < 2     # wrong: no unit\ncheck: p99(copy.response) < 2 s",
    ),
    ProblemCode.LOAD: (
        "A load that is replayed cannot be found, or one that is steered cannot see what it is steered by.",
        "",
    ),
    ProblemCode.SCAN: (
        "The scan varies what there is not, varies it by values that do not fit, or makes too many cases.",
        "scan: {copy.bufer: [128 KiB]}     # wrong\nscan: {copy.buffer: [128 KiB]}",
    ),
    ProblemCode.BESIDE: (
        "A role (`with`), a fault or the cooldown is about what there is not, or what pileup cannot do there.",
        "",
    ),
    ProblemCode.REPORT: (
        "A report has no file name, or one that another report has, or that a run folder cannot hold.",
        "",
    ),
    ProblemCode.SET: (
        "What `--set` names cannot be set.",
        "pileup run copy.yaml --set targets.se=x          # wrong: se is a mapping\n"
        "pileup run copy.yaml --set targets.se.url=/tmp/x",
    ),
    ProblemCode.OVER_LIMIT: (
        "The plan needs more than the suite's own `limits` allow. `pileup plan` shows how much each case needs.",
        "",
    ),
    ProblemCode.SECRET: ("A secret would be in the record, which holds none.", ""),
    ProblemCode.NOT_SIMULATED: (
        "The suite has something real in it, which `pileup simulate` does not do: it reaches no system, and no time "
        "goes by in it. Its targets must be launched, of a kind with a machine in virtual time, its tests async.",
        "se: {kind: practice-tape, url: http://tape.site.org}     # wrong\n"
        "se: {kind: practice-tape, launch: {drives: 4}}",
    ),
    ProblemCode.ONLY_SIMULATED: (
        "A target has settings that no server has, only a machine in virtual time. `pileup simulate` runs such a "
        "suite, and `pileup validate --simulate` checks it for that.",
        "se: {kind: practice-tape, launch: {drives: 4, cache: node}}  # wrong in `pileup run`\n"
        "se: {kind: practice-tape, launch: {drives: 4}}",
    ),
}
"""Code -> what it says, and an example, which may be empty."""
FIRST = (
    "Each mistake that `pileup validate` reports has a code in brackets. `pileup describe CODE` shows its section; "
    "`--json` and `--format github` have it, too."
)


def mistakes_page() -> Page:
    """Return the page of all codes."""
    table = Table(("code", "what"), tuple((f"[{code}](#{code})", _sentence(code)) for code in ProblemCode))
    blocks = [block for code in ProblemCode for block in (Heading(str(code)), *_section(code))]
    return Page("", "mistakes", "Mistakes in a suite", "the codes of `pileup validate`", (Words(FIRST), table, *blocks))


def mistake_page(name: str) -> Page | None:
    """Return the page of one code; None when there is no such code."""
    code = next((each for each in ProblemCode if each == name), None)
    return None if code is None else Page("", name, name, _sentence(code), tuple(_section(code)))


def _section(code: ProblemCode) -> list[Block]:
    meaning, example = MEANING[code]
    return [Words(meaning), *([Code(example)] if example else [])]


def _sentence(code: ProblemCode) -> str:
    return MEANING[code][0].partition(". ")[0].rstrip(".")
