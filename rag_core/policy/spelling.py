"""PostgreSQL's other spellings, put into words that the parser reads the same way.

Each change is one that PostgreSQL's own grammar makes (`USING >` is DESC, `ONLY (t)` is `ONLY t`). What the parser
would read otherwise, and what cannot be said otherwise piece by piece, is refused with the form to write instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from rag_core.policy.literals import Token, tokens_of
from rag_core.policy.refusal import Refusal

_OPERATOR = frozenset("+-*/<>=~!@#%^&|`?")
_PREFIXES = {"@": "abs(x)", "|/": "sqrt(x)", "||/": "cbrt(x)"}
_NAMES = ("word", "quoted")
_LONGEST_NAME = 8  # pieces of `ONLY (database.schema.table)`


# What a statement holds where anything here may apply; most hold none of it and are not taken apart.
_ANYTHING = re.compile(
    r"@|\|/|\b(?:using|only|substring|collation|at|normalized|json_table)\b"
    r"|['$](?:\s|--[^\n\r]*)*(?:/\*|\$|[ebxn]?'|u&')",
    re.IGNORECASE,
)


def plain_spelling(sql: str) -> str:
    """The same statement in the spelling that the parser knows. Raises Refusal."""
    if _ANYTHING.search(sql) is None:
        return sql
    tokens = tokens_of(sql)
    solid = [index for index, token in enumerate(tokens) if token.kind not in ("space", "comment")]
    pieces = _Pieces(tokens, solid)
    for place, index in enumerate(solid):
        token = tokens[index]
        if token.kind in ("text", "other_text"):
            _join_texts(pieces, place)
        elif token.kind == "sign" and token.text in _OPERATOR:
            _check_prefix(pieces, place)
        else:
            rule = _RULES.get(token.word)
            if rule is not None and pieces.at(place - 1).text != ".":
                rule(pieces, place)
    return "".join(token.text for token in tokens)


@dataclass
class _Pieces:
    """A statement in pieces, and where in it those stand that are neither space nor comment."""

    tokens: list[Token]
    solid: list[int]

    def at(self, place: int) -> Token:
        """The piece at a place of `solid`; an empty one outside of it."""
        return self.tokens[self.solid[place]] if 0 <= place < len(self.solid) else Token("space", "")

    @cached_property
    def _parentheses(self) -> tuple[dict[int, int], dict[int, list[int]]]:
        """What `closing` and `directly_within` tell, read once: a statement may hold thousands of them."""
        closing: dict[int, int] = {}
        within: dict[int, list[int]] = {}
        open_parentheses: list[int] = []
        brackets = [0]
        for place, index in enumerate(self.solid):
            token = self.tokens[index]
            if token.text == "(":
                open_parentheses.append(place)
                brackets.append(0)
            elif token.text == ")" and open_parentheses:
                closing[open_parentheses.pop()] = place
                brackets.pop()
            elif token.text in ("[", "]"):
                brackets[-1] += 1 if token.text == "[" else -1
            elif token.word in ("similar", "escape") and open_parentheses and not brackets[-1]:
                within.setdefault(open_parentheses[-1], []).append(place)
        return closing, within

    def closing(self, place: int) -> int:
        """The place of the parenthesis that closes the one at this place; the end where none does."""
        return self._parentheses[0].get(place, len(self.solid))

    def directly_within(self, place: int) -> list[int]:
        """Places of SIMILAR and ESCAPE within the parenthesis at this place and within no other one in it."""
        return self._parentheses[1].get(place, [])


def _refuse(what: str, *instead: str) -> Refusal:
    return Refusal("unsupported_syntax", what, instead)


def _join_texts(pieces: _Pieces, place: int) -> None:
    """`'a'` and `'b'` on the next line are one text, on the same line a fault."""
    tokens, solid = pieces.tokens, pieces.solid
    before, here = pieces.at(place - 1), tokens[solid[place]]
    if before.kind not in ("text", "other_text"):
        return
    between = tokens[solid[place - 1] + 1 : solid[place]]
    # Other spaces than those of ASCII are letters to PostgreSQL.
    plain = all(token.text.isascii() or token.text.startswith("--") for token in between)
    broken = plain and any("\n" in token.text or "\r" in token.text for token in between)
    if not broken or any(token.kind == "comment" for token in between) or not here.text.startswith("'"):
        raise Refusal("syntax", "two texts stand side by side: write one text, or put || between them", ("'a' || 'b'",))
    if not before.text.endswith("'"):
        raise _refuse("a text in several pieces of different kinds is not read here: write it in one")
    here.text = before.text[:-1] + here.text[1:]
    here.kind = before.kind
    for index in range(solid[place - 1], solid[place]):
        tokens[index] = Token("space", "")
    # What follows looks at the piece before it, which is now this one.
    tokens[solid[place - 1]] = Token("space", " ")


def _check_prefix(pieces: _Pieces, place: int) -> None:
    """An operator in front binds looser than + and *, a function of the same name would not."""
    tokens, solid = pieces.tokens, pieces.solid
    if place and solid[place - 1] == solid[place] - 1 and pieces.at(place - 1).text in _OPERATOR:
        return  # within an operator, which was looked at where it begins
    run = tokens[solid[place]].text
    for following in tokens[solid[place] + 1 :]:
        if following.kind != "sign" or following.text not in _OPERATOR:
            break
        run += following.text
    # `@-5` is an operator of two signs to PostgreSQL as well, which it does not have.
    if run in _PREFIXES:
        instead = _PREFIXES[run]
        raise _refuse(f"the operator {run} in front of a value is not read here: write {instead}", instead)


def _using(pieces: _Pieces, place: int) -> None:
    tokens, solid = pieces.tokens, pieces.solid
    following = pieces.at(place + 1)
    if following.text == "(":
        end = pieces.closing(place + 1)
        if pieces.at(end + 1).word == "as":
            raise _refuse("a name for the columns of USING is not read here: write table.column", "USING (id)")
    elif following.kind == "sign":
        after = tokens[solid[place + 1] + 1 : solid[place + 1] + 2]
        single = not after or after[0].kind != "sign" or after[0].text not in _OPERATOR
        if following.text not in ("<", ">") or not single:
            raise _refuse("only < and > can be sorted by: write ASC or DESC", "ASC", "DESC")
        tokens[solid[place]] = Token("word", "ASC" if following.text == "<" else "DESC")
        tokens[solid[place + 1]] = Token("space", "")


def _only(pieces: _Pieces, place: int) -> None:
    """`ONLY (t)` is `ONLY t`."""
    if pieces.at(place + 1).text != "(":
        return
    tokens, solid = pieces.tokens, pieces.solid
    end = pieces.closing(place + 1)
    if end == len(solid) or end - place > _LONGEST_NAME:
        return
    inside = [tokens[solid[item]] for item in range(place + 2, end)]
    names, dots = inside[::2], inside[1::2]
    if len(inside) % 2 and all(t.kind in _NAMES for t in names) and all(t.text == "." for t in dots):
        tokens[solid[place + 1]] = Token("space", " ")
        tokens[solid[end]] = Token("space", " ")


def _substring(pieces: _Pieces, place: int) -> None:
    """`substring(x SIMILAR p ESCAPE e)` is `substring(x, p, e)`."""
    if pieces.at(place + 1).text != "(":
        return
    found = pieces.directly_within(place + 1)
    words = [pieces.at(item).word for item in found]
    if words == ["similar", "escape"] and pieces.at(found[0] + 1).word != "to":
        for item in found:
            pieces.tokens[pieces.solid[item]] = Token("sign", ",")


def _collation(pieces: _Pieces, place: int) -> None:
    """`COLLATION FOR (x)` is `pg_collation_for(x)`."""
    if pieces.at(place + 1).word == "for" and pieces.at(place + 2).text == "(":
        pieces.tokens[pieces.solid[place]] = Token("word", "pg_collation_for")
        pieces.tokens[pieces.solid[place + 1]] = Token("space", "")


def _at_local(pieces: _Pieces, place: int) -> None:
    if pieces.at(place + 1).word == "local":
        raise _refuse("AT LOCAL is not read here: name the time zone", "AT TIME ZONE 'UTC'")


def _normalized(pieces: _Pieces, place: int) -> None:
    before = [pieces.at(place - distance).word for distance in (1, 2)]
    forms = ("nfc", "nfd", "nfkc", "nfkd", "not", "is")
    if before[0] in forms and (before[0] == "is" or before[1] in forms):
        raise _refuse("IS NORMALIZED is not read here: compare with normalize(x)", "x = normalize(x, NFC)")


def _json_table(pieces: _Pieces, place: int) -> None:
    if pieces.at(place + 1).text == "(":
        raise _refuse("JSON_TABLE is not read here: take the rows apart", "jsonb_to_recordset(x) AS t(a integer)")


_RULES = {
    "using": _using,
    "only": _only,
    "substring": _substring,
    "collation": _collation,
    "at": _at_local,
    "normalized": _normalized,
    "json_table": _json_table,
}
