"""Reads a grammar in GBNF and says whether a text is in its language: every parse at once, without a decoder."""

from __future__ import annotations

import re
from functools import cache

_TOKEN = re.compile(
    r'\s*(?:(?P<literal>"(?:\\.|[^"\\])*")|(?P<set>\[(?:\\x[0-9a-fA-F]{2}|\\.|[^\]\\])+\])|(?P<name>[a-z][a-z0-9-]*)'
    r"|(?P<times>\{\d+,\d*\}|[?*+])|(?P<mark>[()|]))"
)

Node = tuple[object, ...]


class Grammar:
    """The rules of a grammar; the first thing asked of it is `root`."""

    def __init__(self, text: str) -> None:
        self.rules: dict[str, Node] = {}
        for line in text.splitlines():
            name, _, body = line.partition(" ::= ")
            assert re.fullmatch(r"[a-z0-9-]+", name), line
            assert name not in self.rules, name
            tokens = _tokens(body)
            self.rules[name] = _alternation(tokens)
            assert not tokens, (name, tokens)
        for name in set(_called(tuple(self.rules.values()))):
            assert name in self.rules, name

    def accepts(self, text: str, rule: str = "root") -> bool:
        """Whether the whole text is in the language."""
        return self.reaches(text, rule)[1]

    def reaches(self, text: str, rule: str = "root") -> tuple[int, bool]:
        """How far a text can be read, and whether it ends there well."""
        furthest = 0

        @cache
        def ends(node: Node, at: int) -> frozenset[int]:
            nonlocal furthest
            furthest = max(furthest, at)
            kind = node[0]
            if kind == "literal":
                found = {at + len(str(node[1]))} if text.startswith(str(node[1]), at) else set()
            elif kind == "set":
                pattern = node[1]
                assert isinstance(pattern, re.Pattern)
                found = {at + 1} if at < len(text) and pattern.fullmatch(text[at]) else set()
            elif kind == "name":
                found = set(ends(self.rules[str(node[1])], at))
            elif kind == "any":
                found = {end for part in node[1:] for end in ends(part, at)}  # type: ignore[arg-type]
            elif kind == "all":
                found = {at}
                for part in node[1:]:
                    found = {end for place in found for end in ends(part, place)}  # type: ignore[arg-type]
            else:
                found = _repeated(node, at)
            return frozenset(found)

        def _repeated(node: Node, at: int) -> set[int]:
            _, part, least, most = node
            assert isinstance(part, tuple)
            assert isinstance(least, int)
            assert isinstance(most, int)
            found = {at} if least == 0 else set()
            edge, seen = {at}, {at}
            for count in range(1, most + 1):
                edge = {end for place in edge for end in ends(part, place)}
                if count >= least:
                    found |= edge
                edge = edge - seen if count > least else edge
                seen |= edge
                if not edge:
                    break
            return found

        complete = len(text) in ends(self.rules[rule], 0)
        return furthest, complete


def _tokens(body: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while body[at:].strip():
        match = _TOKEN.match(body, at)
        assert match is not None, body[at : at + 40]
        assert match.lastgroup is not None
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


def _alternation(tokens: list[tuple[str, str]]) -> Node:
    options = [_sequence(tokens)]
    while tokens and tokens[0] == ("mark", "|"):
        tokens.pop(0)
        options.append(_sequence(tokens))
    return options[0] if len(options) == 1 else ("any", *options)


def _sequence(tokens: list[tuple[str, str]]) -> Node:
    parts: list[Node] = []
    while tokens and tokens[0] not in (("mark", "|"), ("mark", ")")):
        kind, text = tokens.pop(0)
        if kind == "mark":
            assert text == "("
            node = _alternation(tokens)
            assert tokens.pop(0) == ("mark", ")")
        elif kind == "literal":
            node = ("literal", re.sub(r"\\(.)", r"\1", text[1:-1]))
        elif kind == "set":
            node = ("set", re.compile(text))
        else:
            assert kind == "name", (kind, text)
            node = ("name", text)
        if tokens and tokens[0][0] == "times":
            node = ("times", node, *_bounds(tokens.pop(0)[1]))
        parts.append(node)
    return ("all", *parts)


def _bounds(text: str) -> tuple[int, int]:
    if text[0] != "{":
        return {"?": (0, 1), "*": (0, 10_000), "+": (1, 10_000)}[text]
    least, _, most = text[1:-1].partition(",")
    return int(least), int(most or 10_000)


def _called(nodes: tuple[object, ...]) -> list[str]:
    found = []
    for node in nodes:
        if isinstance(node, tuple):
            found += [str(node[1])] if node[:1] == ("name",) else _called(node)
    return found
