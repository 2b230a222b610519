"""Trees that mostly have the shape of a suite, and anything anywhere."""

from hypothesis import strategies as st

from pileup.suite.formats.shapes import ANY, SINGULARS, SUITE, Shape
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence
from pileup.suite.problem_texts import fields_of
from pileup.suite.problems import START

WORDS = ["is", "name", "value", "entry", "item", "suite", "xml:space", "xmlns", "a b", "", "~", "<<", "1", "é", "a.b"]
WORDS += [*SINGULARS, *SINGULARS.values(), "use", "load", "after", "with", "service", "x" * 200]
PIECES = [
    "",
    " ",
    "~",
    "null",
    "5",
    "5 s",
    "$x",
    "${x}",
    "<",
    "&amp;",
    "]]>",
    "<![CDATA[",
    "'",
    '"',
    "a: b",
    "- a",
    "#",
]
PIECES += [
    "\n",
    " \n ",
    "\t",
    "\r",
    "\x85",
    "\u2028",
    "\x7f",
    "\ufeff",
    "two\nlines\n",
    " led",
    "ended ",
    "x y  z",
    "é🦕",
]
PIECES += [
    "long " * 60,
    "long  " * 60,
    "x" * 300,
    "[1, 2]",
    "{a: b}",
    "&a",
    "*a",
    "!t",
    "%",
    "yes",
    "|",
    ">",
    "\n\n a\n",
]

characters = st.characters(
    exclude_categories=["Cs"], exclude_characters=[chr(n) for n in range(32)] + ["\ufffe", "\uffff"]
)
texts = (
    st.sampled_from(PIECES)
    | st.text(characters, max_size=12)
    | st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
)
words = st.sampled_from(WORDS) | st.text(characters, max_size=8)
scalars = st.builds(Scalar, texts, st.just(True), st.just(START)) | st.just(Scalar("", False, START))


def mapping_of(entries: dict[str, Node]) -> Mapping:
    return Mapping(dict(entries), START, dict.fromkeys(entries, START))


def sequence_of(items: list[Node]) -> Sequence:
    return Sequence(items, START)


anything: st.SearchStrategy[Node] = st.recursive(
    scalars,
    lambda below: (
        st.lists(below, max_size=3).map(sequence_of) | st.dictionaries(words, below, max_size=3).map(mapping_of)
    ),
    max_leaves=6,
)


@st.composite
def trees(draw: st.DrawFn, shape: Shape = SUITE, depth: int = 0) -> Node:
    """A tree that mostly has the shape of the schema, and anything anywhere."""
    odd = depth > 0 and draw(st.integers(0, 7)) == 0
    if odd or shape == ANY or depth > 4:
        return draw(anything)
    if shape.kind == "list":
        return sequence_of([draw(trees(shape.item, depth + 1)) for _ in range(draw(st.integers(0, 3)))])
    known = st.sampled_from(list(fields_of(shape.model))) if shape.model else words
    chosen = draw(st.lists(known | words if draw(st.booleans()) else known, max_size=5, unique=True))
    return mapping_of({word: draw(trees(shape.part(word), depth + 1)) for word in chosen})
