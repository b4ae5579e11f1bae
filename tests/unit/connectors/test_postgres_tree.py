"""PostgreSQL's trees are read as what they are, whatever the texts in them are like, or not at all."""

from __future__ import annotations

import pytest

from rag_core.connectors.postgres_objects import reading_of
from rag_core.connectors.postgres_tree import Node, Unreadable, parse_tree, unbroken

QUERY = (
    "{QUERY :commandType 1 :utilityStmt <> :rtable ({RANGETBLENTRY :eref {ALIAS :aliasname %s :colnames (%s)} "
    ":rtekind 0 :relid 16384 :relkind r :perminfoindex 1 :securityQuals <>}) "
    ":rteperminfos ({RTEPERMISSIONINFO :relid 16384 :requiredPerms 2 :checkAsUser 0 :selectedCols (b 7 8 10)}) "
    ":jointree {FROMEXPR :fromlist ({RANGETBLREF :rtindex 1}) :quals %s} :targetList <> :rowMarks %s}"
)
# The same as PostgreSQL 14 and 15 tell it, in a view's definition: the view's own two entries stand before.
EARLIER = (
    "({QUERY :commandType 1 :utilityStmt <> :rtable ({RTE :rtekind 0 :relid 900 :relkind v :requiredPerms 0 "
    ":selectedCols (b)} {RTE :rtekind 0 :relid 900 :relkind v :requiredPerms 0 :selectedCols (b)} "
    "{RTE :rtekind 0 :relid 16384 :relkind r :requiredPerms 2 :selectedCols (b 9)}) :jointree {FROMEXPR :quals "
    "{CASE :casetype 16 :args ({WHEN :expr {ROWCOMPARE :opnos (o 97 664)} :result {COALESCE :coalescetype 25 "
    ":args ({ARRAY :array_typeid 1007} {ROW :row_typeid 2249} {MINMAX :minmaxtype 23})}})}} :rowMarks <>})"
)
ESCAPED = (":relid", r"\:\ 5", r"a\ \}\)\{\(", r"\\", r"\<\>", "[", r":securityQuals", r"\123", "ä" * 30)


def query(alias: str = "t", columns: str = '"a"', quals: str = "<>", marks: str = "<>") -> str:
    return QUERY % (alias, columns, quals, marks)


@pytest.mark.parametrize("text", ESCAPED)
def test_a_text_of_the_statement_is_never_a_part_of_the_tree(text: str) -> None:
    reading = reading_of(parse_tree(unbroken(query(alias=text, columns=f'"{text}" "b"'))))
    assert [(read.relation, read.columns, read.condition) for read in reading.relations] == [(16384, (0, 1, 3), "")]
    assert reading.only_reads
    assert (reading.functions, reading.operators, reading.made) == ((), (), ())


def test_the_objects_of_a_condition_are_found() -> None:
    quals = (
        "{OPEXPR :opno 97 :opfuncid 66 :opresulttype 16 :args ({FUNCEXPR :funcid 16500 :funcresulttype 23 :args <>} "
        "{COERCETODOMAIN :arg {CONST :consttype 23 :constvalue 4 [ 1 0 0 -1 ]} :resulttype 16400} "
        "{VAR :varno 1 :varattno 2 :vartype 16401})}"
    )
    reading = reading_of(parse_tree(query(quals=quals)))
    assert (reading.functions, reading.operators) == ((16500,), (97,))
    assert set(reading.made) == {(16, 0), (23, 16500), (23, 0), (16400, 0)}
    assert reading.seen == (16401,)
    assert reading.relations[0].condition


def test_a_condition_is_the_same_wherever_it_stands_and_another_is_not() -> None:
    def condition(quals: str, more: str = "") -> str:
        tree = query(quals=quals).replace(" :securityQuals <>})", f" :securityQuals <>}}{more})")
        return reading_of(parse_tree(tree)).relations[0].condition

    equal = "{OPEXPR :opno 96 :args ({VAR :varattno 2 :vartype 23 :location %d} {CONST :consttype 23 :constvalue %s})}"
    first = condition(equal % (14, "4 [ 8 0 0 0 ]"))
    assert first
    assert condition(equal % (99, "4 [ 8 0 0 0 ]")) == first
    assert condition(equal % (14, "4 [ 8 0\n0 0 ]")) == first
    assert condition(equal % (14, "4 [ 7 0 0 0 ]")) != first
    assert condition(f"{{BOOLEXPR :boolop or :args ({equal % (14, '4 [ 8 0 0 0 ]')} {VALUE})}}") != first
    assert condition(equal % (14, "4 [ 8 0 0 0 ]"), more=" {RANGETBLENTRY :rtekind 3 :functions <>}") == ""
    assert condition(equal % (14, "4 [ 8 0 0 0 ]"), more=" {RANGETBLENTRY :rtekind 9 :groupexprs <>}") == first


def test_trees_of_earlier_versions_are_read() -> None:
    reading = reading_of(parse_tree(EARLIER))
    assert [(read.relation, read.columns) for read in reading.relations] == [(16384, (2,))]
    assert set(reading.operators) == {97, 664}
    assert reading.seen == ()
    assert reading.made == ((2249, 0),)


@pytest.mark.parametrize(
    "change",
    [
        (":commandType 1", ":commandType 3"),
        (":rowMarks <>", ":rowMarks ({ALIAS :aliasname t})"),
        (":requiredPerms 2", ":requiredPerms 6"),
        (":utilityStmt <>", ":utilityStmt {ALIAS :aliasname t}"),
    ],
)
def test_what_does_more_than_read_is_told(change: tuple[str, str]) -> None:
    assert not reading_of(parse_tree(query().replace(*change))).only_reads


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{QUERY",
        "{QUERY :commandType 1",
        "{QUERY :commandType 1 1}",
        "{QUERY :commandType 1 :commandType 1}",
        "{QUERY commandType 1}",
        "{QUERY :commandType}",
        "{QUERY :commandType 1)",
        "({QUERY :commandType 1}",
        "{QUERY :commandType 1} {QUERY :commandType 1}",
        "{QUERY :commandType 1 [ 1 2 ]}",
        "{QUERY :commandType 1 \\",
        "{NEXTVALUEEXPR :seqid 16384}",
        "{QUERY :commandType 1 :rewriterFunc 16384}",
        "{VAR :vartype x}",
        "{VAR :vartype (i 23)}",
        "{ROWEXPR :row_typeid {CONST :consttype 25}}",
        query().replace("(b 7 8 10)", "<>"),
        query().replace(":relid 16384 :requiredPerms", ":relid t :requiredPerms"),
    ],
)
def test_what_is_not_just_so_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        reading_of(parse_tree(text))


@pytest.mark.parametrize(
    "text",
    [
        # PostgreSQL breaks lines after 78 bytes: a text without a space is halved, between a backslash and its bracket.
        "{ALIAS :aliasname\n" + r"\{" * 38 + "\\\n} :relid 1}",
        "{ALIAS :aliasname\n" + "x" * 78 + "\ny}",
        "{ALIAS :aliasname\n" + "\\\n" * 35 + "\\}",
        "{ALIAS :aliasname\n" + "ä" * 36 + "}",
    ],
)
def test_a_text_that_may_have_been_halved_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        unbroken(text)


def test_conditions_of_row_policies_and_unread_columns_of_joins_are_not_the_statements() -> None:
    inner = query(quals="{FUNCEXPR :funcid 16500 :funcresulttype 16400}")
    tree = query().replace(":securityQuals <>", f":securityQuals ({{SUBLINK :subselect {inner}}})")
    assert reading_of(parse_tree(tree)).functions == ()
    joined = (
        "{RANGETBLENTRY :rtekind 2 :joinaliasvars ({VAR :vartype 16401} {COALESCEEXPR :coalescetype 25 :args "
        "({VAR :vartype 16402})})}"
    )
    assert set(reading_of(parse_tree(joined)).seen) == {25, 16402}


def targets(expression: str, sorted_by: int = 0, source: str = "<>") -> str:
    return (
        f"{{QUERY :commandType 1 :utilityStmt <> :rtable {source} :jointree <> :rowMarks <> "
        f":targetList ({{TARGETENTRY :expr {expression} :ressortgroupref {sorted_by}}})}}"
    )


VALUE = "{VAR :varno 1 :varattno 2 :vartype 16401}"
ROW = "{VAR :varno 1 :varattno 0 :vartype 2249}"
SOURCE = f"({{RANGETBLENTRY :rtekind 1 :subquery {targets('{VAR :varno 1 :varattno 3 :vartype 16405}')}}})"
CALL = "{FUNCEXPR :funcid 65 :funcresulttype 16 :args (%s)}"


@pytest.mark.parametrize(
    ("tree", "seen"),
    [
        (targets(VALUE), set()),
        (targets(VALUE, sorted_by=1), {16401}),
        (targets(CALL % VALUE), {16401}),
        (targets(CALL % "{COALESCEEXPR :coalescetype 16402 :args (%s)}" % VALUE), {16401, 16402}),
        (targets(CALL % VALUE, source=SOURCE), {16401}),
        (targets(ROW, source=SOURCE), set()),
        (targets(CALL % ROW, source=SOURCE), {2249, 16405}),
        (targets(CALL % "{SUBLINK :subselect %s}" % targets(VALUE, source=SOURCE)), {16401}),
        ("{SETOPERATIONSTMT :op 1 :colTypes (o 16401) :groupClauses <>}", set()),
        ("{SETOPERATIONSTMT :op 1 :colTypes (o 16401) :groupClauses ({SORTGROUPCLAUSE :eqop 96})}", {16401}),
        (f"{{RANGETBLENTRY :rtekind 9 :groupexprs ({VALUE})}}", {16401}),
    ],
)
def test_types_are_seen_where_something_is_run_with_their_values(tree: str, seen: set[int]) -> None:
    assert set(reading_of(parse_tree(tree)).seen) == seen


def test_a_node_keeps_its_fields() -> None:
    assert parse_tree("{CONST :consttype 25 :constvalue 3 [ 20 0 0 ]}") == Node(
        "CONST", {"consttype": "25", "constvalue": "3 [ 20 0 0 ]"}
    )
