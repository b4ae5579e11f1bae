"""Constants as PostgreSQL reads them, put into words that the parser reads the same way.

PostgreSQL binds a type's name to the text after it before anything else (`date '2024-01-01'::timestamptz`), reads
several parts and a precision in an interval, and knows numbers like 0x1F and 1_000. The parser does not: left alone it
would give another value. `type 'text'` means just `CAST('text' AS type)`; what cannot be said otherwise is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_core.policy.refusal import Refusal

# One token of PostgreSQL's lexer, as far as constants need it. A comment's nesting is followed by `_skip_comment`, and
# the end of a text between $$ is looked for by `_skip_dollars`: an expression would look at the rest again and again.
_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n\r]*)
    |(?P<comment>/\*)
    |(?P<text>[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*')
    |(?P<dollars>\$(?:[^\W\d]\w*)?\$)
    |(?P<other_text>(?:[uU]&|[bBxXnN])'(?:[^']|'')*')
    |(?P<quoted>(?:[uU]&)?"(?:[^"]|"")*")
    |(?P<number>(?:\d|\.\d)(?:[eE][+-]\d|[\w.])*)
    |(?P<word>[^\W\d][\w$]*)
    |(?P<sign>::|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\Z")
BUILT_IN_TYPES = frozenset(
    {
        "bigint", "bit", "bool", "boolean", "box", "bpchar", "bytea", "char", "character", "cidr", "circle", "date",
        "datemultirange", "daterange", "dec", "decimal", "float", "float4", "float8", "inet", "int", "int2", "int4",
        "int4multirange", "int4range", "int8", "int8multirange", "int8range", "integer", "interval", "json", "jsonb",
        "jsonpath", "line", "lseg", "macaddr", "macaddr8", "money", "name", "numeric", "nummultirange", "numrange",
        "oid", "path", "point", "polygon", "real", "smallint", "text", "time", "timestamp", "timestamptz", "timetz",
        "tsmultirange", "tsquery", "tsrange", "tstzmultirange", "tstzrange", "tsvector", "uuid", "varbit", "varchar",
        "xml",
    }
)  # fmt: skip
# The last words of types of several words, with what comes before.
_TAILS = {
    "zone": re.compile(r"(?:timestamp|time)(?:\(\d+\))? (?:with|without) time zone\Z"),
    "precision": re.compile(r"double precision\Z"),
    "varying": re.compile(r"(?:character|char|bit) varying(?:\(\d+\))?\Z"),
}
INTERVAL_PRECISION = "an interval with a precision is not read here: write the interval in full"
_UNITS = ("year", "month", "day", "hour", "minute", "second")
_SIGNED = re.compile(r"\s*[+-]?\d+\s*\Z")


@dataclass
class Token:
    """A piece of a statement: space, comment, text, other_text, quoted, number, word or sign."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The token in lower case where it is a plain word or a sign."""
        return self.text.lower() if self.kind in ("word", "sign", "number") else ""


def plain_literals(sql: str) -> str:
    """The same statement with `CAST('text' AS type)` for every `type 'text'`. Raises Refusal."""
    tokens = tokens_of(sql)
    for token in tokens:
        if token.kind == "number" and _PLAIN_NUMBER.match(token.text) is None:
            raise Refusal(
                "unsupported",
                f"the number {token.text[:40]} is written in a way that is not read here: write it in digits",
            )
    solid = [index for index, token in enumerate(tokens) if token.kind not in ("space", "comment")]
    for place in range(len(solid) - 1, 0, -1):
        if tokens[solid[place]].kind == "text":
            _rewrite(tokens, solid, place)
    return "".join(token.text for token in tokens)


def _rewrite(tokens: list[Token], solid: list[int], place: int) -> None:
    """Turns the text at this place into a cast where a type stands before it."""
    first = _type_before(tokens, solid, place)
    if first is None:
        return
    following = [tokens[index] for index in solid[place + 1 : place + 4]]
    if following and following[0].kind in ("text", "other_text"):
        raise Refusal("unsupported", "a constant in several pieces is not read here: write it in one")
    text = tokens[solid[place]].text
    kind = " ".join(tokens[index].text for index in solid[first:place]).replace(" (", "(").replace("( ", "(")
    if kind.lower() in ("char", "character"):
        kind = "bpchar"  # before a text, unlike in a cast, the length is not 1 but open
    if kind.lower() == "bit":
        raise Refusal("unsupported", "write a bit constant as B'101'")
    last = place
    if tokens[solid[first]].word == "interval":
        if first + 1 < place:
            raise Refusal("unsupported", INTERVAL_PRECISION)
        unit = following[0].word if following else ""
        if unit in _UNITS:
            if len(following) > 1 and following[1].word in ("to", "("):
                raise Refusal("unsupported", "an interval of a range of fields is not read here: write it in one text")
            if _SIGNED.match(text.strip("'")) is None:
                raise Refusal("unsupported", f"write the unit inside the interval's text, as in '1 {unit}'")
            text, last = f"'{text.strip(chr(39)).strip()} {unit}'", place + 1
    for index in range(solid[first], solid[last] + 1):
        if tokens[index].kind != "comment":
            tokens[index] = Token("space", "")
    tokens[solid[place]] = Token("word", f" CAST({text} AS {kind}) ")


def _type_before(tokens: list[Token], solid: list[int], place: int) -> int | None:
    """Where in `solid` the type starts that stands right before the text at this place; None where none does."""
    end = place
    if tokens[solid[end - 1]].text == ")":
        depth = 0
        for end in range(place - 1, -1, -1):
            word = tokens[solid[end]].text
            depth += {")": 1, "(": -1}.get(word, 0)
            if depth == 0:
                break
            if word != ")" and tokens[solid[end]].kind != "number" and word != ",":
                return None
    if end == 0:
        return None
    last = tokens[solid[end - 1]].word
    first = end - 1
    if last in _TAILS:
        for start in range(max(0, end - 7), end):
            words = "".join(
                token.word if token.word in ("(", ")") or token.kind == "number" else f" {token.word}"
                for token in (tokens[index] for index in solid[start:place])
            )
            if _TAILS[last].match(words.strip().replace(")with", ") with")):
                first = start
                break
        else:
            return None
    elif last not in BUILT_IN_TYPES:
        return None
    before = tokens[solid[first - 1]].text if first else ""
    # After a point the word is a name; after AS or :: it is the type of something else.
    return None if before in (".", "::") or before.lower() == "as" else first


def tokens_of(sql: str) -> list[Token]:
    """The statement in pieces, none left out; signs come one by one."""
    found: list[Token] = []
    at = 0
    while at < len(sql):
        match = _TOKEN.match(sql, at)
        assert match is not None
        kind, end = match.lastgroup or "sign", match.end()
        if kind == "comment":
            end = _skip_comment(sql, at)
        elif kind == "dollars":
            kind, end = _skip_dollars(sql, at, match.group())
        found.append(Token(kind, sql[at:end]))
        at = end
    return found


def _skip_dollars(sql: str, start: int, mark: str) -> tuple[str, int]:
    """Kind and end of what starts with a mark like $tag$: a text where the mark comes again, a mere sign where not."""
    found = sql.find(mark, start + len(mark))
    return ("sign", start + 1) if found < 0 else ("text", found + len(mark))


def _skip_comment(sql: str, start: int) -> int:
    depth, at = 0, start
    while at < len(sql):
        mark = sql[at : at + 2]
        if mark in ("/*", "*/"):
            depth += 1 if mark == "/*" else -1
            at += 2
            if depth == 0:
                return at
        else:
            at += 1
    return at
