"""Words of a tree that its text repeats as they are: a unit, a method, a bare name.

The parser takes any token for some of them, a quoted name too, and the generator writes it without its quotes:
`EXTRACT("year FROM now()), token FROM secrets --" FROM x)` would become another statement than the one checked.
"""

from __future__ import annotations

import re

from sqlglot import exp

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
