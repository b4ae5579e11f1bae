"""The grammar of the statements that a model may write: only tables and columns that exist. Pure.

It is GBNF, which llama.cpp and vLLM decode under, of the whole reply: the JSON object with the statement in it. A
column is written behind the whole name of its table, and a table has no alias; so a grammar that knows no context
still ties each column to its table. A table that is read twice is read in a subquery once. What a statement makes
itself, the columns of `q1` to `q9` and the names of outputs that ORDER BY speaks of, is free text, which the guard
looks at afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import sqlglot

from rag_core.datamodel.catalog import Catalog, CatalogTable
from rag_core.policy.names import NameRules, name_rules
from rag_core.schema.card_choice import score_tables
from rag_core.workers.sql_functions import FUNCTIONS, TYPES, UNITS

# Characters of names: about two thousand columns. A larger schema is cut to what speaks for the question.
MOST_CHARACTERS = 40_000
# Dialects in which a part of a date stands as an argument without quotes, as in DATE_TRUNC(day, MONTH).
_BARE_UNITS = frozenset({"bigquery", "snowflake"})
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class GrammarTable(NamedTuple):
    """A table as statements may name it: the texts that FROM takes, what stands before its columns, and these."""

    sources: tuple[str, ...]
    qualifier: str
    columns: tuple[str, ...]


def build_grammar(task: str, catalog: Catalog, values: Mapping[str, Iterable[str]]) -> str:
    """The grammar over the tables that questions may see, in GBNF; empty where there is no column to read.

    It is the same for every task, unless the schema is too large for one; then tables and columns that speak for the
    task come first.

    Args:
        task: what is asked.
        catalog: the tables that questions may see.
        values: known values by `schema.table.column`.
    """
    tables = _tables(_chosen(task, catalog, values), catalog)
    if not tables:
        return ""
    rules = [*_names(tables), *_words(catalog.dialect), *_STATEMENT]
    return "\n".join(rules) + "\n"


def _chosen(task: str, catalog: Catalog, values: Mapping[str, Iterable[str]]) -> list[tuple[CatalogTable, list[str]]]:
    """Tables with the columns that may be named, in the order of the catalog's names."""
    readable = [table for table in catalog.tables if table.readable]
    whole = {table.qualified_name: [item.name for item in table.columns if item.readable] for table in readable}
    if sum(map(_size, whole.values())) <= MOST_CHARACTERS:
        taken = whole
    else:
        taken, left = {}, MOST_CHARACTERS
        for scored in score_tables(task, readable, values):
            name = scored.table.qualified_name
            best = sorted(whole[name], key=lambda column: -scored.columns[column])
            while best and _size(best) > left:
                best = best[: len(best) // 2]
            taken[name] = [column for column in whole[name] if column in set(best)]
            left -= _size(best)
    ordered = sorted(readable, key=lambda table: table.qualified_name)
    return [(table, taken[table.qualified_name]) for table in ordered if taken.get(table.qualified_name)]


def _size(names: Iterable[str]) -> int:
    return sum(len(name) + 1 for name in names)


def _tables(chosen: Sequence[tuple[CatalogTable, list[str]]], catalog: Catalog) -> list[GrammarTable]:
    rules = name_rules(catalog.dialect)
    names = [rules.catalog_key(table.name) for table, _ in chosen]
    listed = []
    for table, columns in chosen:
        unique = names.count(rules.catalog_key(table.name)) == 1
        called = table.name if unique else f"{table.schema_name}_{table.name}"
        full = f"{rules.written(table.schema_name)}.{rules.written(table.name)}"
        sources = [full] if unique else [f"{full} AS {rules.written(called)}"]
        if unique and table.schema_name in catalog.search_path:
            sources.append(rules.written(table.name))
        written = [form for column in columns for form in _column_forms(column, rules)]
        listed.append(GrammarTable(tuple(sources), rules.written(called), tuple(written)))
    return listed


def _column_forms(column: str, rules: NameRules) -> list[str]:
    """How a column may be written behind a point: there most dialects take a key word, such as name, without quotes."""
    written = rules.written(column)
    folds = rules.key(column, quoted=False) == rules.catalog_key(column) and _WORD.fullmatch(column)
    if written == column or not folds or rules.dialect == "snowflake":
        return [written]
    try:
        sqlglot.parse_one(f"t.{column}", dialect=rules.dialect)
    except sqlglot.errors.SqlglotError:
        return [written]
    return [column, written]


def _names(tables: Sequence[GrammarTable]) -> list[str]:
    sources = {source: "" for table in tables for source in table.sources}
    behind = {f"{table.qualifier}.": f"columns-{number}" for number, table in enumerate(tables, start=1)}
    columns = [
        f"columns-{number} ::= {alternatives(dict.fromkeys(table.columns, ''))}"
        for number, table in enumerate(tables, start=1)
    ]
    return [f"table ::= {alternatives(sources)}", f"column ::= {alternatives(behind)}", *columns]


def _words(dialect: str) -> list[str]:
    functions = FUNCTIONS.get(dialect, FUNCTIONS["postgres"])
    units = alternatives(dict.fromkeys(UNITS, ""))
    argument = "expression | unit" if dialect in _BARE_UNITS else "expression"
    length = 'number " " unit' if dialect == "bigquery" else "string"
    return [
        f"function ::= {alternatives(dict.fromkeys(functions, ''))}",
        f"type ::= {alternatives(dict.fromkeys(TYPES.get(dialect, TYPES['postgres']), ''))}",
        f"unit ::= {units}",
        f"argument ::= {argument}",
        f"length ::= {length}",
    ]


def alternatives(words: Mapping[str, str]) -> str:
    """Words, each with the rule that follows it, as nested alternatives that share their beginnings.

    A decoder keeps a state for each alternative at a place: so there are as many as next letters and not as words.
    """
    groups: dict[str, dict[str, str]] = {}
    for word in sorted(words):
        groups.setdefault(word[:1], {})[word] = words[word]
    parts = []
    for first, group in groups.items():
        if not first:
            continue
        shared = _shared(list(group))
        rest = {word[len(shared) :]: after for word, after in group.items()}
        if len(rest) == 1:
            after = next(iter(rest.values()))
            parts.append(f"{literal(shared)} {after}".rstrip())
        else:
            optional = "?" if rest.get("") == "" else ""
            parts.append(f"{literal(shared)} ({alternatives(rest)}){optional}")
    if words.get(""):
        parts.append(words[""])
    return " | ".join(parts)


def _shared(words: Sequence[str]) -> str:
    low, high = min(words), max(words)
    length = next((at for at, letter in enumerate(low) if at >= len(high) or high[at] != letter), len(low))
    return low[:length]


def literal(text: str) -> str:
    """A text of a statement as it stands in the JSON string, as a terminal."""
    inner = json.dumps(text, ensure_ascii=False)[1:-1]
    return '"' + re.sub(r'(["\\])', r"\\\1", inner) + '"'


# The form of the reply and of one SELECT, in the spelling that models have by habit: key words in capitals, one space.
# Each list has an end, since a small model that repeats itself would go on until its tokens are used up.
_STATEMENT = r"""
root ::= "{\"sql_query\": \"" statement "\", \"explanation\": \"" remark "\", \"confidence\": " share "}"
remark ::= [^"\\\x00-\x1f]{0,60}
share ::= "1.0" | "0." [0-9] [0-9]?
statement ::= ("WITH " derived " AS (" query ")" (", " derived " AS (" query ")"){0,3} " ")? query
query ::= select ((" UNION ALL " | " UNION " | " INTERSECT " | " EXCEPT ") select){0,3} order? limit?
select ::= "SELECT " "DISTINCT "? output (", " output){0,9} " FROM " source join{0,7} where? group? having?
output ::= expression (" AS " name)? | derived ".*"
source ::= table | derived | "(" query ") AS " derived
join ::= (" " ("LEFT " | "INNER " | "RIGHT " | "FULL ")? "JOIN ") source " ON " expression | (" CROSS JOIN " | ", ") source
where ::= " WHERE " expression
group ::= " GROUP BY " expression (", " expression){0,9}
having ::= " HAVING " expression
order ::= " ORDER BY " ordered (", " ordered){0,4}
ordered ::= (expression | name) (" ASC" | " DESC")? (" NULLS " ("FIRST" | "LAST"))?
limit ::= " LIMIT " [0-9]{1,5} (" OFFSET " [0-9]{1,5})?
expression ::= "NOT "? term tail{0,12}
tail ::= " " operator " " "NOT "? term | " IS " "NOT "? "NULL" | " " "NOT "? "IN (" inside ")"
operator ::= "=" | "<" | ">" | "<=" | ">=" | "<>" | "!=" | "+" | "-" | "*" | "/" | "%" | "||" | "AND" | "OR" | "NOT "? ("LIKE" | "ILIKE" | "BETWEEN")
inside ::= query | expression (", " expression){0,30}
term ::= (column | derived "." name | call | "(" inside ")" | "EXISTS (" query ")" | case | value | special) ("::" cast)?
case ::= "CASE " (expression " ")? ("WHEN " expression " THEN " expression " "){1,8} ("ELSE " expression " ")? "END"
call ::= function "(" ("*" | "DISTINCT "? argument (", " argument){0,4} order?)? ")" within? filter? over?
within ::= " WITHIN GROUP (ORDER BY " ordered ")"
filter ::= " FILTER (WHERE " expression ")"
over ::= " OVER (" ("PARTITION BY " expression (", " expression)* (order frame?)? | "ORDER BY " ordered (", " ordered)* frame?)? ")"
frame ::= " " ("ROWS" | "RANGE") " BETWEEN " bound " AND " bound
bound ::= ("UNBOUNDED" | [0-9]{1,4}) " " ("PRECEDING" | "FOLLOWING") | "CURRENT ROW"
special ::= "EXTRACT(" unit " FROM " expression ")" | "CAST(" expression " AS " cast ")"
cast ::= type ("(" [0-9]{1,2} ("," " "? [0-9]{1,2})? ")")?
value ::= number | string | "NULL" | "TRUE" | "FALSE" | "CURRENT_DATE" | "CURRENT_TIMESTAMP" | ("DATE " | "TIMESTAMP ") string | "INTERVAL " length
number ::= "-"? [0-9]{1,15} ("." [0-9]{1,8})?
string ::= "'" ([^'"\\\x00-\x1f] | "''"){0,120} "'"
derived ::= "q" [1-9]
name ::= [a-z_] [a-z0-9_]{0,40}
""".strip().splitlines()  # noqa: E501 - a rule of the grammar stands on one line
