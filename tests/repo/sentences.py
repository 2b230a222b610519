"""Finds decisions that are made by the words of a sentence: by what the compared name says that it holds.

A sentence under another name is not seen, nor what a function makes of one.
"""

import ast
import re
from collections.abc import Iterator

SENTENCES = {"reason", "message", "error", "problem", "note", "why", "sentence", "stopped", "mistake"}
"""What sentences for people are called."""
NAMES = SENTENCES | {"told", "words"}
"""The same, and names that collections have too: whether something is in one of those says nothing."""
PARTS = {"what", "text"}
"""Attributes that are sentences where what has them is called as one is, or is an event."""
TAKEN_APART = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "find", "rfind"} | {
    "index", "split", "rsplit", "match", "fullmatch", "search",
}  # fmt: skip
"""Methods that look into a text."""
_RUST_NAME = r"\b(?:reason|message|error|problem|note|why|sentence|mistake|failure|trouble|says|told)"
_RUST_SAME = (
    r"(?:\s*\.(?:as_str|as_ref|as_deref|to_string|to_lowercase|to_ascii_lowercase|trim|clone|unwrap_or_default|unwrap)"
    r"\(\)|\(\))*"
)
_RUST_TAKES_APART = (
    r"\s*\.(?:starts_with|ends_with|contains|find|rfind|strip_prefix|strip_suffix|split|rsplit|split_once|rsplit_once|"
    r"matches|eq_ignore_ascii_case)\("
)
_RUST = re.compile(
    rf"{_RUST_NAME}{_RUST_SAME}(?:{_RUST_TAKES_APART}|\s*[=!]=\s*(?:Some\()?\"\w)"
    rf"|\bmatch\s[^{{;]*{_RUST_NAME}{_RUST_SAME}\s*\{{\s*(?:Some\()?\""
)
_RUST_TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.MULTILINE)


def decisions(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each expression that looks into a sentence, or compares one with words."""
    for node in ast.walk(ast.parse(source)):
        if _takes_apart(node) or _compares(node):
            yield getattr(node, "lineno", 0), ast.unparse(node)


def rust_decisions(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the same in Rust: `message.strip_suffix(…)`, `error.to_string() == "…"`, a `match`.

    Comments do not count, and neither does the module of tests at the end of a file.
    """
    tests = _RUST_TESTS.search(source)
    code = re.sub(r"//[^\n]*", "", source[: tests.start()] if tests else source)
    for found in _RUST.finditer(code):
        yield code.count("\n", 0, found.start()) + 1, re.sub(r"\s+", " ", found[0])


def _takes_apart(node: ast.AST) -> bool:
    """`reason.startswith(…)`, `str(problem).partition(":")`, `PATTERN.match(message)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in TAKEN_APART:
            patterns = name in ("match", "fullmatch", "search") and any(_is_sentence(each, NAMES) for each in args)
            return _is_sentence(value, NAMES) or patterns
    return False


def _compares(node: ast.AST) -> bool:
    """`"limit" in reason`, `reason == "stopped"`, `message in OUT_OF`."""
    match node:
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
            return (_is_words(left) and _is_sentence(right)) or (_is_sentence(left) and _is_words(right))
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            return (_is_sentence(left) and _is_words(right)) or (_is_words(left) and _is_sentence(right))
    return False


def _is_words(node: ast.expr) -> bool:
    """Whether this is a text with something in it, several of them, or a constant of a module."""
    match node:
        case ast.Constant(value=str() as text):
            return bool(text)
        case ast.Tuple(elts=several) | ast.List(elts=several) | ast.Set(elts=several):
            return any(map(_is_words, several))
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper()
    return isinstance(node, ast.JoinedStr)


def _is_sentence(node: ast.expr, names: set[str] = SENTENCES) -> bool:
    """Whether this is called as sentences are: `reason`, `case.reason`, `told["reason"]`, `str(problem).lower()`."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name) if name in PARTS:
            return owner in {*SENTENCES, "event"}
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=name)):
            return name in names
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=name), *_]):
            return name in names
        case ast.BoolOp(values=several):
            return any(_is_sentence(each, names) for each in several)
        case (
            ast.Call(func=ast.Name(id="str"), args=[whole])
            | ast.Call(
                func=ast.Attribute(value=whole, attr="lower" | "upper" | "casefold" | "strip" | "lstrip" | "rstrip")
            )
        ):
            return _is_sentence(whole, names)
    return False
