"""The scan of a whole syntax tree: writes, locks, commands and everything that is not known to only read."""

from __future__ import annotations

import re

from sqlglot import exp

from rag_core.policy.literals import INTERVAL_PRECISION
from rag_core.policy.refusal import Refusal
from rag_core.policy.words import check_words

QUERY_ROOTS = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Create, exp.Drop, exp.Alter, exp.TruncateTable)

# Expressions other than functions that only read. What is not here is refused.
_READING: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Select, exp.Union, exp.Except, exp.Intersect, exp.Subquery, exp.Values, exp.Table, exp.TableAlias,
        exp.TableSample, exp.From, exp.Join, exp.Lateral, exp.CTE, exp.With, exp.RecursiveWithSearch, exp.Where,
        exp.Group, exp.Having, exp.HavingMax, exp.Qualify, exp.Order, exp.Ordered, exp.Limit, exp.LimitOptions,
        exp.Fetch, exp.Offset, exp.Distinct, exp.Window, exp.WindowSpec, exp.Alias, exp.Aliases, exp.Column,
        exp.Identifier, exp.Star, exp.Literal, exp.Boolean, exp.Null, exp.DataType, exp.DataTypeParam,
        exp.ObjectIdentifier, exp.PseudoType, exp.Interval, exp.IntervalSpan, exp.Var, exp.Tuple, exp.Paren,
        exp.Bracket, exp.Slice, exp.Cube, exp.Rollup, exp.GroupingSets, exp.Filter, exp.WithinGroup, exp.IgnoreNulls,
        exp.RespectNulls, exp.Between, exp.In, exp.Any, exp.All, exp.Escape, exp.AtTimeZone, exp.FromTimeZone,
        exp.Lambda, exp.RawString, exp.UnicodeString, exp.ByteString, exp.HexString, exp.BitString, exp.National,
        exp.Pivot, exp.PivotAlias, exp.PivotAny, exp.UnpivotColumns, exp.Variadic, exp.JSONKeyValue, exp.JSON,
        exp.JSONPath, exp.JSONPathFilter, exp.JSONPathKey, exp.JSONPathPart, exp.JSONPathRecursive, exp.JSONPathRoot,
        exp.JSONPathSelector, exp.JSONPathSlice, exp.JSONPathSubscript, exp.JSONPathUnion, exp.JSONPathWildcard,
        exp.FormatJson, exp.OverflowTruncateBehavior, exp.WeekStart, exp.Semicolon, exp.JSONValue, exp.OnCondition,
    }
)  # fmt: skip
# Binary and unary operators compute, except those that name an operator by schema, which may be anybody's.
_NOT_READING = (exp.Operator,)

_ROW_FUNCTIONS = (exp.Generator, exp.Explode, exp.SplitToTable, exp.Anonymous)

# Functions that the parser knows and that do more than compute: they read files, models, tables named in a string.
_FUNCTIONS_REFUSED = (
    exp.AIAgg, exp.AIClassify, exp.AIEmbed, exp.AIForecast, exp.AIGenerate, exp.AISimilarity, exp.AISummarizeAgg,
    exp.Columns, exp.DynamicIdentifier, exp.FeaturesAtTime, exp.GenerateBool, exp.GenerateDouble,
    exp.GenerateEmbedding, exp.GenerateInt, exp.GenerateTable, exp.GenerateText, exp.MLForecast, exp.MLTranslate,
    exp.NextValueFor, exp.ObjectId, exp.OpenJSON, exp.Predict, exp.ReadCSV, exp.ReadParquet, exp.Secret, exp.ToFile,
    exp.VectorSearch, exp.XMLTable,
)  # fmt: skip

# The same by name, lower case.
REFUSED_FUNCTION_NAMES = frozenset(name.lower() for function in _FUNCTIONS_REFUSED for name in function.sql_names())

# Casts to these turn numbers and texts into names of objects and roles, hidden ones too.
OBJECT_TYPES = frozenset(
    {
        "regclass", "regproc", "regprocedure", "regoper", "regoperator", "regtype", "regrole", "regnamespace",
        "regcollation", "aclitem",
    }
)  # fmt: skip


def check_root(tree: exp.Expr) -> None:
    """Raises Refusal where the statement is not a query."""
    if isinstance(tree, _WRITES):
        raise Refusal("write", f"only queries are run, not {tree.key.upper()}")
    if not isinstance(tree, QUERY_ROOTS):
        word = re.match(r"\W*(\w*)", tree.sql(comments=False))
        raise Refusal("not_a_query", f"only one SELECT statement is run, not {word[1].upper() if word else ''}")


def check_nodes(tree: exp.Expr) -> list[exp.Expr]:
    """Looks at every node of the tree; returns the functions in it. Raises Refusal at the first that may not be."""
    functions: list[exp.Expr] = []
    for node in tree.walk():
        if isinstance(node, exp.Func) and not isinstance(node, (exp.Binary, exp.Connector)):
            if isinstance(node, _FUNCTIONS_REFUSED):
                raise Refusal("function_not_allowed", f"the function {node.sql_name()} does more than compute")
            functions.append(node)
        elif isinstance(node, exp.ColumnDef) and isinstance(node.parent, exp.TableAlias):
            pass  # the columns of a function's rows: AS t (a integer, b text)
        elif isinstance(node, exp.TableFromRows) and isinstance(node.this, _ROW_FUNCTIONS):
            pass  # Snowflake's TABLE(f(...)); in TABLE('name') a text names a table
        elif type(node) not in _READING and (
            not isinstance(node, (exp.Binary, exp.Unary)) or isinstance(node, _NOT_READING)
        ):
            raise _refused(node)
        check_words(node)
        _check_parts(node)
        if isinstance(node, (exp.DataType, exp.ObjectIdentifier)):
            check_type(node)
        elif isinstance(node, exp.Select) and node.args.get("into") is not None:
            raise Refusal("select_into", "SELECT INTO would create a table")
    return functions


def _check_parts(node: exp.Expr) -> None:
    """Raises Refusal where something is missing that the node cannot be without; the parser lets some of it pass."""
    args = node.args
    for name in node.required_args:
        value = args.get(name)
        if value is None or value == []:
            raise Refusal("syntax", f"something is missing in {node.key.upper()}")
    if isinstance(node, exp.Table) and (args.get("db") == "" or args.get("catalog") == ""):
        raise Refusal("unsupported_syntax", f"write the schema of {node.name} between the two points")


def check_type(node: exp.Expr) -> None:
    """Raises Refusal for a cast to a type that names objects of the catalog."""
    if node.this is exp.DType.INTERVAL and node.expressions:
        raise Refusal("unsupported", INTERVAL_PRECISION)
    kind = node.args.get("kind")
    named = kind.name if isinstance(kind, exp.Expr) else str(kind or node.this)
    # An array's type may be written with an underscore in front.
    if named.split(".")[-1].strip('"').lower().lstrip("_") in OBJECT_TYPES or (
        isinstance(node, exp.ObjectIdentifier)
        and str(node.this).lower().startswith("reg")
        and str(node.this).lower() in OBJECT_TYPES
    ):
        raise Refusal("catalog_closed", f"a cast to {named.lower()} names objects of the catalog, which is closed")


def _refused(node: exp.Expr) -> Refusal:
    if isinstance(node, _WRITES):
        inside = node.find_ancestor(exp.CTE) is not None
        return Refusal(
            "write_in_cte" if inside else "write",
            f"{node.key.upper()} inside a query would change data; only reading is allowed",
        )
    if isinstance(node, exp.Lock):
        return Refusal("row_lock", "FOR UPDATE and FOR SHARE lock rows; leave the clause out")
    if isinstance(node, exp.Into):
        return Refusal("select_into", "SELECT INTO would create a table")
    if isinstance(node, (exp.Parameter, exp.Placeholder, exp.SessionParameter)):
        return Refusal("parameter", "the statement holds a parameter; write its value")
    if isinstance(node, (exp.Command, exp.Set, exp.Copy, exp.Use, exp.Pragma, exp.Kill, exp.Attach, exp.Execute)):
        return Refusal("not_a_query", f"only one SELECT statement is run, not {node.key.upper()}")
    if isinstance(node, exp.Operator):
        return Refusal("unsupported", "operators named with OPERATOR() are not allowed: they may be anybody's function")
    return Refusal("unsupported", f"{node.key.upper()} is not among the expressions that are known to only read")
