"""Reads the trees in which PostgreSQL writes down what it understood (`nodeToString`).

A node is `{NAME :label value ...}`, a value a token, a node or a list in parentheses. Texts of the statement stand in
tokens, where PostgreSQL puts a backslash before what would end them. What is not just so is not read: the statement is
refused then.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TEXT = r"(?:[^ \n\t(){}\\]|\\.)+"
# A node's beginning, a field with the one token that is its value, a constant's bytes, a bracket, or a token.
_PIECE = re.compile(rf"\{{(\w*)|:(\w+)[ \n]+({_TEXT})?|(\[[-\d \n]*\])|([()}}])|({_TEXT})", re.DOTALL)
# PostgreSQL breaks the trees that it tells into lines of 78 bytes: at a space, but where there is none within a token.
_LONGEST_RUN = 70


class Unreadable(ValueError):
    """The tree cannot be read with certainty."""


class Node(NamedTuple):
    """A node: its name, and its fields by label."""

    name: str
    fields: dict[str, Value]


Value = str | Node | list["Value"]


def unbroken(text: str) -> str:
    """The tree of a notice. Raises Unreadable where a break between lines may have halved a token."""
    plain = text if text.isascii() else text.encode().decode("latin-1")
    runs = plain.replace("\\\n", "\\_").replace("\n", " ").split(" ")
    if max(map(len, runs)) >= _LONGEST_RUN:
        raise Unreadable("a name in it is too long")
    return text


def parse_tree(text: str) -> Value:
    """The tree of a text. Raises Unreadable."""
    if text.endswith("\\"):
        raise Unreadable("it ends too early")
    tree = _Tree()
    for name, label, scalar, constant, bracket, token in _PIECE.findall(text):
        if label:
            tree.begin_field(label, scalar)
        elif constant:
            tree.put_bytes(constant)
        elif token:
            tree.put(token)
        elif bracket in ("}", ")"):
            tree.close(bracket)
        else:
            tree.open([] if bracket else Node(name, {}))
    return tree.root()


class _Tree:
    """A tree as far as it was read: the open list or node, the label that waits for a value, and those around."""

    def __init__(self) -> None:
        self._holder: list[Value] | Node = []
        self._label = ""
        self._around: list[tuple[list[Value] | Node, str]] = []

    def begin_field(self, label: str, scalar: str) -> None:
        holder = self._holder
        if self._label or isinstance(holder, list) or label in holder.fields:
            raise Unreadable("a field stands in it where none belongs")
        if scalar:
            holder.fields[label] = scalar
        else:
            self._label = label

    def put_bytes(self, constant: str) -> None:
        """Those of a constant follow their number."""
        holder = self._holder
        if isinstance(holder, list) or self._label or next(reversed(holder.fields), "") != "constvalue":
            raise Unreadable("bytes stand in it where none belong")
        holder.fields["constvalue"] = " ".join((str(holder.fields["constvalue"]), *constant.split()))

    def open(self, value: list[Value] | Node) -> None:
        self._around.append((self._holder, self._label))
        self._holder, self._label = value, ""

    def close(self, bracket: str) -> None:
        value = self._holder
        if not self._around or self._label or isinstance(value, Node) is not (bracket == "}"):
            raise Unreadable("it is not closed as it was opened")
        self._holder, self._label = self._around.pop()
        self.put(value)

    def put(self, value: Value) -> None:
        holder = self._holder
        if isinstance(holder, list):
            holder.append(value)
        elif self._label and not isinstance(value, str):
            holder.fields[self._label] = value
            self._label = ""
        else:
            raise Unreadable("a value in it has no label")

    def root(self) -> Value:
        if self._around or not isinstance(self._holder, list) or len(self._holder) != 1:
            raise Unreadable("it ends too early")
        return self._holder[0]
