"""Expat's errors for a file that is not XML, in pileup's three parts."""

from __future__ import annotations

from xml.parsers.expat import errors

from pileup.suite.formats.xml_text import Attribute, attributes_at

ROOT = "suite"
EXAMPLE = "see examples/first-run.xml"


def explain(said: str, data: bytes, index: int, inside: str, name: str) -> tuple[str, str, str]:
    """Return what was found, what was expected, what to do next.

    `said` is expat's message about a byte index; `inside` is the element there, `name` is its name: both are empty
    outside the suite.
    """
    match said:
        case errors.XML_ERROR_NO_ELEMENTS if not name:
            return "the file is empty", f'<{ROOT} pileup="1" …>', EXAMPLE
        case errors.XML_ERROR_NO_ELEMENTS | errors.XML_ERROR_UNCLOSED_TOKEN:
            told = f"the file ends inside {inside}" if name else "the file ends too early"
            return told, f"</{name or ROOT}>", ""
        case errors.XML_ERROR_TAG_MISMATCH if name:
            end = data[index : index + 60].split(b">")[0].decode("utf-8", "replace").removeprefix("</")
            return f"</{end}> in {inside}", f"</{name}> first", ""
        case errors.XML_ERROR_UNDEFINED_ENTITY:
            return "an entity that XML does not have", "&lt; &gt; &amp; &quot; &apos; or &#number;", ""
        case errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
            return f"something after </{ROOT}>", "the end of the file", ""
    hint = _hint(data, index) if said == errors.XML_ERROR_INVALID_TOKEN else ""
    return f"this is not XML: {said}{f' in {inside}' if inside else ''}", "a suite in XML", hint


def _hint(data: bytes, index: int) -> str:
    """Say what may be meant by a character that cannot be where it does."""
    before = data[max(0, index - 200) : index]
    if data[index : index + 1] == b"<":
        return "write &lt; for <"
    if b"&" in (before[-1:], data[index : index + 1]):
        return "write &amp; for &"
    if before.endswith(b"--"):
        return "no -- in a comment"
    if before.endswith(b"<"):
        return "names begin with a letter; write &lt; for <"
    return 'attributes are written name="value"' if b"<" in before else ""


def second_of_two(data: bytes, index: int) -> tuple[Attribute, Attribute] | None:
    """Return two attributes of one name in the tag at a byte index: expat reports on the tag, or of the second one."""
    first: dict[str, Attribute] = {}
    for each in attributes_at(data, data.rfind(b"<", 0, index + 1))[0]:
        if each.name in first:
            return first[each.name], each
        first[each.name] = each
    return None
