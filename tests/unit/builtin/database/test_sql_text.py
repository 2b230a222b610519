"""Scripts taken apart, and what is known of a statement from its text."""

import pytest

from pileup.builtin.database.sql_text import parse, split


@pytest.mark.parametrize(
    ("script", "statements"),
    [
        ("", []),
        (" ;; -- nothing;\n ; ", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;\nSELECT 2;\n", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';', \";\", `;`; SELECT 2", ["SELECT ';', \";\", `;`", "SELECT 2"]),
        ("SELECT 'it''s;'; SELECT 'a\\';'", ["SELECT 'it''s;'", "SELECT 'a\\';'"]),
        ("SELECT 1 -- one; two\n; SELECT 2", ["SELECT 1 -- one; two", "SELECT 2"]),
        ("SELECT /* ; */ 1;\n# a; b\nSELECT 5 # 3", ["SELECT /* ; */ 1", "# a; b\nSELECT 5 # 3"]),
        ("DO $x$ BEGIN a; END $x$; SELECT 3 - 1", ["DO $x$ BEGIN a; END $x$", "SELECT 3 - 1"]),
        ("SELECT 'open; never closed", ["SELECT 'open", "never closed"]),
    ],
)
def test_statements_end_at_semicolons_outside_of_quotes_and_comments(script: str, statements: list[str]) -> None:
    assert list(split(script)) == statements


@pytest.mark.parametrize(
    ("text", "verb", "writes"),
    [
        ("SELECT 1", "select", False),
        ("  -- first\n /* second */ (select 1)", "select", False),
        ("SELECT * FROM jobs FOR UPDATE", "select", False),
        ("SHOW STATUS", "show", False),
        ("insert into jobs values (1)", "insert", True),
        ("UPDATE jobs SET a = 1", "update", True),
        ("WITH x AS (SELECT 1) SELECT * FROM x", "select", False),
        ("WITH x AS (SELECT 1) DELETE FROM jobs", "delete", True),
        ("CREATE INDEX i ON t (a)", "create", True),
        ("CALL clean('select')", "call", True),
    ],
)
def test_what_a_statement_does(text: str, verb: str, writes: bool) -> None:
    found = parse(text)
    assert (found.verb, found.writes) == (verb, writes)


def test_parameters_are_words_after_a_colon() -> None:
    found = parse("SELECT :a, x::int, ':b', '12:30', \":c\" FROM t WHERE d=:d -- :e")
    assert found.names == {"a", "d"}
    assert "'\\:b'" in found.text
    assert "'12:30'" in found.text
    assert "x::int" in found.text


@pytest.mark.parametrize("text", ["", "-- nothing", "SELECT 1; SELECT 2"])
def test_one_statement_is_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"\d statements where one belongs; expected one"):
        parse(text)
