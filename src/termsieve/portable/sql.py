"""A description comes in; a script of SQL goes out: tables of terms and weights, and views that decide.

The documents are read from a table or view `documents(id, text)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from termsieve.portable.description import refused
from termsieve.portable.scorer import Ranges

ROWS_PER_INSERT = 500


@dataclass(frozen=True)
class Dialect:
    """What databases spell differently."""

    code_point: str  # a character in a pattern, by its number
    tokens: str  # all tokens of a text, one per row, with their place


DIALECTS = {
    "duckdb": Dialect(
        r"\x{{{:x}}}",
        "unnest(regexp_extract_all(text, {pattern})) WITH ORDINALITY AS token(word, place)",
    ),
    "postgres": Dialect(
        r"\U{:08x}",
        "regexp_matches(text, {pattern}, 'g') WITH ORDINALITY AS token(words, place)",
    ),
}


def sql_script(model: dict[str, Any], dialect: str = "duckdb", name: str = "model") -> str:
    """Return the script that makes the tables, and the views `<name>_values` and `<name>_decisions`."""
    _check(model)
    spelled = DIALECTS[dialect]
    parts = [
        f"-- A termsieve model of {len(model['terms']):,} terms and {len(model['classes']):,} classes.",
        "-- It reads the documents from a table or view documents(id, text).",
        *_tables(model, name),
        *_views(model, spelled, dialect, name),
    ]
    return "\n".join(parts) + "\n"


def _check(model: dict[str, Any]) -> None:
    text = model["text"]
    instead = "export it to python or js, or train without"
    if text["analyzer"] != "word":
        raise refused(f"analyzer={text['analyzer']!r} in SQL", instead)
    if text["stem"] is not None:
        raise refused(f"the stemmer {text['stem']!r} in SQL", instead)
    if text["token"]["word"] is not None:
        raise refused("a token pattern that knows more letters than it keeps in SQL", instead)
    if text["lowercase"] is not None and text["lowercase"]["final_sigma"] is not None:
        raise refused("a term with a Greek sigma in SQL", "export it to python or js, or leave the term out")
    if any("\0" in word for word in (*model["terms"], *text["stop_words"], *map(str, model["classes"]))):
        raise refused("a term with the character 0 in SQL", instead)


def _tables(model: dict[str, Any], name: str) -> Iterator[str]:
    yield f"CREATE TABLE {name}_classes (number INTEGER, class TEXT);"
    yield from _inserts(f"{name}_classes", [[i, str(label)] for i, label in enumerate(model["classes"])])
    ends = zip(model["intercepts"], model["thresholds"], strict=True)
    numbers = "intercept DOUBLE PRECISION, threshold DOUBLE PRECISION"
    yield f"CREATE TABLE {name}_rows (number INTEGER, {numbers});"
    yield from _inserts(f"{name}_rows", [[i, float(b), float(t)] for i, (b, t) in enumerate(ends)])
    scales = model["scales"] or [1.0] * len(model["terms"])
    yield f"CREATE TABLE {name}_terms (number INTEGER, term TEXT, scale DOUBLE PRECISION);"
    terms = zip(model["terms"], scales, strict=True)
    yield from _inserts(f"{name}_terms", [[i, term, float(scale)] for i, (term, scale) in enumerate(terms)])
    yield f"CREATE TABLE {name}_weights (term INTEGER, problem INTEGER, weight DOUBLE PRECISION);"
    weights = [
        [term, row, float(weight)]
        for term, by_row in enumerate(model["weights"])
        for row, weight in enumerate(by_row)
        if weight
    ]
    yield from _inserts(f"{name}_weights", weights)
    if model["text"]["stop_words"]:
        yield f"CREATE TABLE {name}_stop_words (word TEXT);"
        yield from _inserts(f"{name}_stop_words", [[word] for word in model["text"]["stop_words"]])


def _inserts(table: str, rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    for start in range(0, len(rows), ROWS_PER_INSERT):
        part = rows[start : start + ROWS_PER_INSERT]
        values = ",\n  ".join("(" + ", ".join(map(_literal, row)) + ")" for row in part)
        yield f"INSERT INTO {table} VALUES\n  {values};"


def _literal(value: Any) -> str:
    """Return a value as SQL writes it; with an exponent a number is a double and no decimal."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        text = repr(value)
        return text if "e" in text else f"{text}e0"
    return str(value)


def _views(model: dict[str, Any], spelled: Dialect, dialect: str, name: str) -> Iterator[str]:
    value = {"presence": "1e0", "count": "n", "log": "1 + ln(n)"}[model["values"]]
    length = "sqrt(sum(value * value) OVER (PARTITION BY id))" if model["unit_length"] else "1e0"
    yield f"""CREATE VIEW {name}_values AS
WITH lowered AS (
  SELECT id, {_lowered(model)} AS text FROM documents
), tokens AS (
{_tokens(model, spelled, dialect, name)}
), counted AS (
  SELECT id, found.number AS term, found.scale, CAST(count(*) AS DOUBLE PRECISION) AS n
  FROM ({_terms(model)}) AS said JOIN {name}_terms AS found ON found.term = said.term
  GROUP BY id, found.number, found.scale
), valued AS (
  SELECT id, term, ({value}) * scale AS value FROM counted
), scaled AS (
  SELECT id, term, value / {length} AS value FROM valued
), summed AS (
  SELECT id, problem, sum(value * weight ORDER BY scaled.term) AS total
  FROM scaled JOIN {name}_weights AS weights ON weights.term = scaled.term GROUP BY id, problem
)
SELECT documents.id AS id, ends.number AS number,
  coalesce(summed.total, 0) + ends.intercept - ends.threshold AS value
FROM documents CROSS JOIN {name}_rows AS ends
LEFT JOIN summed ON summed.id = documents.id AND summed.problem = ends.number;"""
    yield _decisions(model, name)


def _lowered(model: dict[str, Any]) -> str:
    """Return the expression for a text in lower case.

    A capital whose small letter is in no term needs no translation: its token is unknown in any case.
    """
    table = model["text"]["lowercase"]
    if table is None:
        return "text"
    letters, token = set().union(*model["terms"], *model["text"]["stop_words"]), _token_set(model)
    pairs = [
        (chr(point), chr(point + distance))
        for first, last, step, distance in table["runs"]
        for point in range(first, last + 1, step)
        if chr(point + distance) in letters or (chr(point) in token) != (chr(point + distance) in token)
    ]
    if not pairs:
        return "text"
    before, after = (_literal("".join(side)) for side in zip(*pairs, strict=True))
    longer = "text"
    for point, several in table["longer"]:
        longer = f"replace({longer}, {_literal(chr(point))}, {_literal(several)})"
    # The database's own lower() depends on its locale and on its version of Unicode.
    return f"translate({longer}, {before},\n    {after})"


def _token_set(model: dict[str, Any]) -> Ranges:
    return Ranges(model["text"]["token"]["characters"])


def _tokens(model: dict[str, Any], spelled: Dialect, dialect: str, name: str) -> str:
    """Return the query of all tokens that are not stop words, numbered again."""
    token, edges = model["text"]["token"], []
    characters = iter(token["characters"])
    for first, last in zip(characters, characters, strict=True):
        edges.append(f"{spelled.code_point.format(first)}-{spelled.code_point.format(last)}")
    pattern = _literal(f"[{''.join(edges)}]{{{token['least']},}}")
    word = "word" if dialect == "duckdb" else "words[1]"
    call = spelled.tokens.format(pattern=pattern)
    stops = (
        f" WHERE {word} NOT IN (SELECT word FROM {name}_stop_words)" if model["text"]["stop_words"] else ""
    )
    return (
        f"  SELECT id, {word} AS word, row_number() OVER (PARTITION BY id ORDER BY place) AS place\n"
        f"  FROM lowered, {call}{stops}"
    )


def _terms(model: dict[str, Any]) -> str:
    """Return the query of all terms of all documents: words, and sequences of words."""
    least, most = model["text"]["ngrams"]
    queries = []
    for n in range(least, most + 1):
        later = (f"lead(word, {i}) OVER (PARTITION BY id ORDER BY place)" for i in range(1, n))
        joined = " || ' ' || ".join(["word", *later])
        queries.append(f"SELECT id, {joined} AS term FROM tokens")
    return " UNION ALL ".join(queries)


def _decisions(model: dict[str, Any], name: str) -> str:
    """Return the view of the class of each document, or one row for each of its labels."""
    columns = "scored.id AS id, classes.class AS class, scored.value AS value"
    head = f"CREATE VIEW {name}_decisions AS\nSELECT {columns}\nFROM "
    tail = f" AS scored JOIN {name}_classes AS classes ON classes.number = "
    if model["decision"] == "two":
        return f"{head}{name}_values{tail}CASE WHEN scored.value > 0 THEN 1 ELSE 0 END;"
    if model["decision"] == "each":
        return f"{head}{name}_values{tail}scored.number AND scored.value > 0;"
    best = (
        "(SELECT *, row_number() OVER (PARTITION BY id ORDER BY value DESC, number) AS place "
        f"FROM {name}_values)"
    )
    return f"{head}{best}{tail}scored.number AND scored.place = 1;"
