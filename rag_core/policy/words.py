"""Words of a tree that its text repeats as they are: a unit, a method, a bare name.

The parser takes any token for some of them, a quoted name too, and the generator writes it without its quotes:
`EXTRACT("year FROM now()), token FROM secrets --" FROM x)` would become another statement than the one checked.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from rag_core.policy.refusal import Refusal

_WORD = re.compile(r"[\w$]*\Z")
_WORDS = re.compile(r"[\w$]*(?:[ .][\w$]+)*\Z")
_NUMBER = re.compile(r"[\w.]*(?:[eE][+-]\d+)?\Z")
_DIGITS = re.compile(r"[0-9a-fA-F]*\Z")
# A type's name, whose parts may be quoted.
_TYPE = re.compile(r'(?:[\w$]+|"[^"]+")(?:\.(?:[\w$]+|"[^"]+"))*(?:\[\d*\])*\Z')
# What the generator puts between quotes and escapes.
_ESCAPED = (
    exp.National, exp.RawString, exp.ByteString, exp.UnicodeString, exp.JSONPathKey, exp.JSONPathSubscript,
)  # fmt: skip


def check_words(node: exp.Expr) -> None:
    """Raises Refusal where a node holds text that would stand in the statement as it is, and is no plain word."""
    for value in node.args.values():
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and not _plain(node, text):
                raise Refusal(
                    "unsupported_syntax", f"{text[:40]} stands where a plain word must: write it in letters and digits"
                )


def _plain(node: exp.Expr, text: str) -> bool:
    if isinstance(node, exp.Literal):
        return node.is_string or _NUMBER.match(text) is not None
    if isinstance(node, exp.Identifier):
        return bool(node.args.get("quoted")) or _WORD.match(text) is not None
    if isinstance(node, _ESCAPED):
        return True
    if isinstance(node, (exp.HexString, exp.BitString)):
        return _DIGITS.match(text) is not None
    if isinstance(node, exp.DataType):
        return _TYPE.match(text) is not None
    return (_WORD if isinstance(node, exp.Var) else _WORDS).match(text) is not None


# Texts that hold nothing which could end them or be read as more than a word or a number.
_TAME = re.compile(r"(?:[\w.%+/ ]|-(?!-)|:(?!:))*\Z")
_TAME_IN_TRANSLATION = re.compile(r"(?:[\w.%+/]|-(?!-)|:(?!:))*\Z")
_NO_WORD = re.compile(r"\W")


def tamed(tree: exp.Expr, *, translated: bool) -> exp.Expr | None:
    """A copy of the tree in which every text and quoted name is a word; None where they already are.

    Written out, the two must have the same tokens but for what these say. Where they do not, the generator takes a text
    for SQL, as for the 256 of `SHA2(x, '256')`, which some dialects write as the name SHA256.
    """
    pattern = _TAME_IN_TRANSLATION if translated else _TAME
    if all(pattern.match(node.name) for node in tree.find_all(*_QUOTED)):
        return None
    copy = tree.copy()
    for node in copy.find_all(*_QUOTED):
        if isinstance(node.this, str) and (not isinstance(node, exp.Literal) or node.is_string):
            # A key with a space stays one that has to be quoted.
            node.set("this", _NO_WORD.sub(" " if isinstance(node, exp.JSONPathKey) else "x", node.this))
    return copy


def shape_of(text: str, dialect: Dialect) -> list[tuple[object, bool]]:
    """The kinds of a text's tokens, each with whether a comment stands at it."""
    return [(token.token_type, bool(token.comments)) for token in dialect.tokenize(text)]


_QUOTED = (exp.Literal, exp.Identifier, *_ESCAPED)
