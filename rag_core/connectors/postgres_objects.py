"""Finds the objects in the trees in which PostgreSQL writes down what it understood: tables, functions, types.

The nodes and the fields that hold an object's number are those of PostgreSQL 14 to 18 (`primnodes.h`, `parsenodes.h`).
A node that is not known here, and a field that sounds as if it held an object's number, is not read over: the statement
is refused then.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache

from rag_core.connectors.postgres_tree import Node, Unreadable, Value
from rag_core.datamodel.understanding import Reading, RelationRead

# A whole row has this bit in the sets of columns; column n is n bits further.
_WHOLE_ROW_BIT = 7
_SELECT = "2"
# Fields that hold the number of an object, by node: F a function, O an operator, M a type of which a value is made
# there, S the type of a value that is already there. Before PostgreSQL 16 some nodes had shorter names.
_OBJECTS: dict[str, dict[str, str]] = {
    "VAR": {"vartype": "S"},
    "CONST": {"consttype": "M"},
    "PARAM": {"paramtype": "S"},
    "AGGREF": {"aggfnoid": "F", "aggtype": "S", "aggargtypes": "S"},
    "WINDOWFUNC": {"winfnoid": "F", "wintype": "S"},
    "SUBSCRIPTINGREF": {"refcontainertype": "S", "refelemtype": "S", "refrestype": "S"},
    "FUNCEXPR": {"funcid": "F"},
    "OPEXPR": {"opno": "O", "opresulttype": "M"},
    "DISTINCTEXPR": {"opno": "O", "opresulttype": "M"},
    "NULLIFEXPR": {"opno": "O", "opresulttype": "S"},
    "SCALARARRAYOPEXPR": {"opno": "O"},
    "FIELDSELECT": {"resulttype": "S"},
    "RELABELTYPE": {"resulttype": "M"},
    "COERCEVIAIO": {"resulttype": "M"},
    "ARRAYCOERCEEXPR": {"resulttype": "M"},
    "CONVERTROWTYPEEXPR": {"resulttype": "M"},
    "COERCETODOMAIN": {"resulttype": "M"},
    "COERCETODOMAINVALUE": {"typeId": "S"},
    "CASEEXPR": {"casetype": "S"},
    "CASETESTEXPR": {"typeId": "S"},
    "ARRAYEXPR": {"array_typeid": "S", "element_typeid": "S"},
    "ROWEXPR": {"row_typeid": "M"},
    "ROWCOMPAREEXPR": {"opnos": "O"},
    "COALESCEEXPR": {"coalescetype": "S"},
    "MINMAXEXPR": {"minmaxtype": "S"},
    "SQLVALUEFUNCTION": {"type": "M"},
    "XMLEXPR": {"type": "M"},
    "JSONRETURNING": {"typid": "M"},
    "SORTGROUPCLAUSE": {"eqop": "O", "sortop": "O"},
    "WINDOWCLAUSE": {"startInRangeFunc": "F", "endInRangeFunc": "F"},
    "CTECYCLECLAUSE": {"cycle_mark_type": "S", "cycle_mark_neop": "O"},
    "COMMONTABLEEXPR": {"ctecoltypes": "S"},
    "SETOPERATIONSTMT": {"colTypes": "S"},
    "RANGETBLFUNCTION": {"funccoltypes": "M"},
    "TABLEFUNC": {"coltypes": "M"},
    "RANGETBLENTRY": {"coltypes": "S"},
}
# Nodes that hold no such field of their own.
_STRUCTURE = frozenset(
    {
        *("QUERY", "ALIAS", "FROMEXPR", "JOINEXPR", "RANGETBLREF", "TARGETENTRY", "GROUPINGSET", "CTESEARCHCLAUSE"),
        "RTEPERMISSIONINFO",
        *("BOOLEXPR", "SUBLINK", "CASEWHEN", "NULLTEST", "BOOLEANTEST", "NAMEDARGEXPR", "COLLATEEXPR"),
        *("GROUPINGFUNC", "JSONFORMAT", "JSONVALUEEXPR", "JSONCONSTRUCTOREXPR", "JSONISPREDICATE", "JSONBEHAVIOR"),
        *("JSONEXPR", "JSONTABLEPATH", "JSONTABLEPATHSCAN", "JSONTABLESIBLINGJOIN", "TABLESAMPLECLAUSE"),
        "ROWMARKCLAUSE",
    }
)
# Nodes that run something with the values within: a function, an operator, a comparison, an input or output.
_RUNS = frozenset(
    {
        *(
            "AGGREF",
            "WINDOWFUNC",
            "FUNCEXPR",
            "OPEXPR",
            "DISTINCTEXPR",
            "NULLIFEXPR",
            "SCALARARRAYOPEXPR",
            "MINMAXEXPR",
        ),
        *("ROWCOMPAREEXPR", "COERCEVIAIO", "ARRAYCOERCEEXPR", "CONVERTROWTYPEEXPR", "COERCETODOMAIN", "XMLEXPR"),
        *("JSONCONSTRUCTOREXPR", "JSONVALUEEXPR", "JSONEXPR", "JSONISPREDICATE", "TABLEFUNC", "SUBSCRIPTINGREF"),
        *("WINDOWCLAUSE", "CTECYCLECLAUSE"),
    }
)
# Rows without a type of their own, and arrays of them: what is in them, the tree does not tell where they are used.
_ROWS = frozenset({2249, 2287})
_EARLIER_NAMES = {
    "RTE": "RANGETBLENTRY",
    "CASE": "CASEEXPR",
    "WHEN": "CASEWHEN",
    "ARRAY": "ARRAYEXPR",
    "ROW": "ROWEXPR",
    "ROWCOMPARE": "ROWCOMPAREEXPR",
    "COALESCE": "COALESCEEXPR",
    "MINMAX": "MINMAXEXPR",
}
# Fields whose names sound like an object's number. Those of the last lines are: the function of an operator, which its
# number gives too, the table that a column came from, what only the planner fills in, and what a sample is drawn by,
# which the server's administrator installs.
_NO_OBJECTS = frozenset(
    {
        *("commandType", "subLinkType", "jointype", "nulltesttype", "booltesttype", "btype", "rctype", "cmptype"),
        *("format_type", "item_type", "functype", "type", "varreturningtype", "funcresulttype", "aggtranstype"),
        *("boolop", "op", "minmaxop", "opfuncid", "hashfuncid", "negfuncid", "resorigtbl", "relid", "collOid"),
        "tsmhandler",
    }
)
_SOUNDS_LIKE_OBJECT = re.compile(
    r"(?:oid|types?|typeid|typid|func|funcid|fn|ops?|opno|opnos|relid|handler|seqid)$", re.I
)
# Where in the statement's text something stood.
_PLACES = frozenset({"location", "list_start", "list_end", "stmt_location", "stmt_len"})
# Entries of a range table that are no sources of rows: joins of the others, and the group of PostgreSQL 18.
_NO_SOURCES = frozenset({"2", "9"})


class _Found:
    """Collects the objects of a tree."""

    def __init__(self) -> None:
        self.relations: dict[tuple[int, tuple[int, ...], str], None] = {}
        self.functions: dict[int, None] = {}
        self.operators: dict[int, None] = {}
        self.made: dict[tuple[int, int], None] = {}
        self.there: dict[int, None] = {}
        self.used: dict[int, None] = {}
        self.whole_rows = False
        self.only_reads = True

    def add(self, kind: str, value: Value | None, label: str, *, runs: bool) -> None:
        for number in _numbers(value, label):
            if number == 0:
                continue
            if kind == "F":
                self.functions[number] = None
            elif kind == "O":
                self.operators[number] = None
            elif kind == "M":
                self.made[number, 0] = None
            else:
                self.there[number] = None
                if runs:
                    self.used[number] = None
                    self.whole_rows = self.whole_rows or number in _ROWS

    def add_node(self, node: Node, *, runs: bool) -> None:
        """Takes in the fields of one node, without what is within; `runs` where something is run with its value."""
        name = _EARLIER_NAMES.get(node.name, node.name)
        objects = _OBJECTS.get(name, {})
        if not objects and name not in _STRUCTURE:
            raise Unreadable(f"it holds {node.name[:40]}, which is not known here")
        if name == "QUERY":
            self.add_query(node)
        elif name == "FUNCEXPR":
            self.made[_number(node.fields.get("funcresulttype")), _number(node.fields.get("funcid"))] = None
        elif name == "SETOPERATIONSTMT":
            runs = node.fields.get("groupClauses") != "<>"
        elif name == "VAR" and runs and node.fields.get("varattno") == "0":
            self.whole_rows = True
        for label, value in node.fields.items():
            kind = objects.get(label)
            if kind is not None:
                self.add(kind, value, label, runs=runs)
            elif isinstance(value, str) and value.isdigit() and value != "0" and _sounds_like_object(label):
                raise Unreadable(f"it holds {label[:40]}, which is not known here")

    def add_query(self, query: Node) -> None:
        fields = query.fields
        if fields.get("commandType") != "1" or fields.get("rowMarks") != "<>" or fields.get("utilityStmt") != "<>":
            self.only_reads = False
        entries = [entry for entry in _list(fields.get("rtable")) if isinstance(entry, Node)]
        sources = [entry for entry in entries if entry.fields.get("rtekind") not in _NO_SOURCES]
        tree = fields.get("jointree")
        condition = ""
        if len(sources) == 1 and isinstance(tree, Node) and tree.fields.get("quals", "<>") != "<>":
            condition = _written(tree.fields["quals"])
        # From PostgreSQL 16 on the columns stand in a list of their own, before in the entries themselves.
        holders = [item for item in _list(fields.get("rteperminfos")) if isinstance(item, Node)] or entries
        told = set()
        for holder in holders:
            relation = _number(holder.fields.get("relid", "0"))
            # What is only named there is a view's own entry, which PostgreSQL 15 still puts before what it reads.
            if relation and holder.fields.get("requiredPerms") != "0":
                self.only_reads = self.only_reads and holder.fields.get("requiredPerms") == _SELECT
                told.add(relation)
                self.relations[relation, _columns(holder.fields.get("selectedCols")), condition] = None
        for entry in entries:
            relation = _number(entry.fields.get("relid", "0"))
            if relation and relation not in told and "perminfoindex" in entry.fields:
                self.relations[relation, (), condition] = None

    def reading(self) -> Reading:
        return Reading(
            relations=tuple(
                RelationRead(relation=relation, columns=columns, condition=condition)
                for relation, columns, condition in self.relations
            ),
            functions=tuple(self.functions),
            operators=tuple(self.operators),
            made=tuple(self.made),
            seen=tuple(self.there if self.whole_rows else self.used),
            only_reads=self.only_reads,
        )


def reading_of(tree: Value) -> Reading:
    """The objects in a tree. Raises Unreadable where it holds a node that is not known here."""
    found = _Found()
    waiting: list[tuple[Value, bool]] = [(tree, False)]
    while waiting:
        value, runs = waiting.pop()
        if isinstance(value, Node):
            found.add_node(value, runs=runs)
            waiting += _within(value, runs=runs)
        elif isinstance(value, list):
            waiting += ((item, runs) for item in value if not isinstance(item, str))
    return found.reading()


def _within(node: Node, *, runs: bool) -> Iterator[tuple[Value, bool]]:
    """What of a node's fields is to be looked into, and whether something is run with the values there."""
    name = _EARLIER_NAMES.get(node.name, node.name)
    # What stands in a select list is compared where it is sorted or grouped by.
    runs = runs or name in _RUNS or (name == "TARGETENTRY" and node.fields.get("ressortgroupref") != "0")
    for label, value in node.fields.items():
        if isinstance(value, str):
            continue
        if label == "joinaliasvars":
            # All columns of both sides, read or not; those that a join merges are computed.
            merged = (item for item in _list(value) if not (isinstance(item, Node) and item.name == "VAR"))
            yield from ((item, True) for item in merged)
        elif label != "securityQuals":  # conditions of the database's own row policies are not the statement's
            # Of a query within an expression only what it gives is that expression's.
            yield value, label == "groupexprs" or (runs and (name != "QUERY" or label == "targetList"))


def _written(tree: Value) -> str:
    """A text that is the same just for the same tree, wherever in a statement it stands."""
    pieces: list[str] = []
    waiting: list[Value] = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            # A line may have been broken at a space in a name.
            pieces.append(value.replace("\\\n", "\\ "))
        elif isinstance(value, Node):
            pieces.append("{" + value.name)
            waiting.append("}")
            for label, item in value.fields.items():
                if label not in _PLACES:
                    waiting += (item, f":{label}")
        else:
            pieces.append("(")
            waiting += (")", *reversed(value))
    return hashlib.sha256(" ".join(pieces).encode()).hexdigest()


@lru_cache(1_000)
def _sounds_like_object(label: str) -> bool:
    return label not in _NO_OBJECTS and _SOUNDS_LIKE_OBJECT.search(label) is not None


def _list(value: Value | None) -> list[Value]:
    return value if isinstance(value, list) else []


def _number(value: Value | None) -> int:
    if not isinstance(value, str) or not value.isdigit():
        raise Unreadable("a number in it cannot be read")
    return int(value)


def _numbers(value: Value | None, label: str) -> list[int]:
    """One number, or those of a list such as `(o 23 25)`; nothing for an empty one."""
    if value == "<>":
        return []
    if isinstance(value, list):
        if not value or value[0] != "o":
            raise Unreadable(f"{label[:40]} cannot be read")
        return [_number(item) for item in value[1:]]
    return [_number(value)]


def _columns(value: Value | None) -> tuple[int, ...]:
    """Numbers of columns out of a set such as `(b 7 8 9)`."""
    if not isinstance(value, list) or value[:1] != ["b"]:
        raise Unreadable("the columns of a table cannot be read")
    return tuple(_number(item) - _WHOLE_ROW_BIT for item in value[1:])
