"""Statements and the semantic model after renames."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.schema.definitions import same_definition
from rag_core.schema.patch import propose_patch
from rag_core.schema.renames import Renames
from rag_core.schema.repair import RepairFault, rewrite_sql
from rag_core.semantics.model import load_semantic_model

COLUMN = Renames({}, {("public.t", "amt"): "amount", ("public.t", "Odd Col"): "odd"})
TABLE = Renames({"public.t": "public.t2", "public.u": "ops.u"}, {("public.t", "amt"): "amount"})


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select amt from t", "select amount AS amt from t"),
        ("select amt as x from t", "select amount as x from t"),
        (
            "select x.amt, sum(amt) from public.t x group by x.amt order by amt",
            "select x.amount AS amt, sum(amount) from public.t x group by x.amount order by amt",
        ),
        (
            "with c as (select amt from t) select amt from c",
            "with c as (select amount AS amt from t) select amt from c",
        ),
        (
            "with c as (select * from t) select c.amt from c",
            "with c as (select * from t) select c.amount AS amt from c",
        ),
        (
            "select a.amt from t a join u b on a.id = b.id where b.amt > 1",
            "select a.amount AS amt from t a join u b on a.id = b.id where b.amt > 1",
        ),
        ('select "Odd Col" as z from t where "AMT" = 1', 'select odd as z from t where "AMT" = 1'),
        (
            "select u.id, (select max(amt) from t where t.id = u.id) from u",
            "select u.id, (select max(amount) from t where t.id = u.id) from u",
        ),
        (
            "select u.id from u where exists (select 1 from t where t.amt = u.amt)",
            "select u.id from u where exists (select 1 from t where t.amount = u.amt)",
        ),
        (
            "select sum(amt) filter (where amt > 0) over (order by amt) from t -- amt",
            "select sum(amount) filter (where amount > 0) over (order by amount) from t -- amt",
        ),
        ("select amt from t union all select amt from u", "select amount AS amt from t union all select amt from u"),
        ("select 'amt' from t where note = 'amt'", "select 'amt' from t where note = 'amt'"),
        ("select q.a from (select amt from t) as q(a)", "select q.a from (select amount AS amt from t) as q(a)"),
        (
            "select distinct on (amt) amt, id from t order by amt desc",
            "select distinct on (amount) amount AS amt, id from t order by amt desc",
        ),
        ("select d.amt from t, lateral (select t.amt) d", "select d.amt from t, lateral (select t.amount AS amt) d"),
        (
            "select cast(t.amt as int), amt::numeric(12,2), (amt), id from t",
            "select cast(t.amount as int) AS amt, amount::numeric(12,2) AS amt, (amount) AS amt, id from t",
        ),
        ("select s.amt from s.t as s", "select s.amt from s.t as s"),
    ],
)
def test_renamed_columns(sql: str, expected: str) -> None:
    assert rewrite_sql(sql, "postgres", COLUMN).sql == expected


def test_renamed_tables() -> None:
    done = rewrite_sql("select t.amt, u.x from t join public.u on t.id = u.id", "postgres", TABLE)
    assert done.sql == "select t.amount AS amt, u.x from t2 AS t join ops.u on t.id = u.id"
    same = "with t as (select 1 as amt) select amt from t"
    assert rewrite_sql(same, "postgres", TABLE).sql == same


def test_other_dialects_fold_their_own_way() -> None:
    upper = Renames({}, {("PUBLIC.T", "AMT"): "AMOUNT"})
    done = rewrite_sql("select t.amt from public.t", "snowflake", upper)
    assert done.sql == "select t.AMOUNT AS amt from public.t"
    assert rewrite_sql('select t."amt" from public.t', "snowflake", upper).edits == ()
    mixed = Renames({}, {("shop.T", "Amt"): "Total"})
    assert rewrite_sql("select t.AMT from `shop`.`T` as t", "bigquery", mixed).sql.startswith("select t.Total AS AMT")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select amt from t join u using (id)", "traced"),
        ("select t.id from t join u using (amt)", "USING"),
        ("select t.id from t natural join u", "NATURAL"),
        ("select t from t", "whole row"),
        ("select to_jsonb(t) from t", "whole row"),
        ("select (t).amt from t", "whole row"),
        ("delete from t", "single query"),
        ("select 1; select 2", "single query"),
        ("select from where", "parsed"),
        ("select (select amt from u) from t", "traced"),
    ],
)
def test_what_is_not_certain_is_refused(sql: str, reason: str) -> None:
    with pytest.raises(RepairFault, match=reason):
        rewrite_sql(sql, "postgres", COLUMN)


def catalog(**tables: str) -> Catalog:
    return Catalog(
        dialect="postgres",
        database="d",
        taken_at=datetime(2026, 7, 1, tzinfo=UTC),
        tables=tuple(
            CatalogTable(
                schema_name="public",
                name=name,
                columns=tuple(CatalogColumn(name=item, type="text") for item in text.split()),
            )
            for name, text in tables.items()
        ),
    )


def test_the_schema_settles_bare_columns() -> None:
    known = catalog(t="id amt", u="id other")
    done = rewrite_sql("select amt from t join u using (id)", "postgres", COLUMN, catalog=known)
    assert done.sql == "select amount AS amt from t join u using (id)"
    foreign = rewrite_sql("select (select amt from u) from t", "postgres", COLUMN, catalog=catalog(t="amt", u="amt"))
    assert foreign.edits == ()
    with pytest.raises(RepairFault, match="several"):
        rewrite_sql("select amt from t join u on true", "postgres", COLUMN, catalog=catalog(t="amt", u="amt"))


def test_star_tells_its_readers() -> None:
    done = rewrite_sql("select * from t", "postgres", COLUMN)
    assert done.edits == ()
    assert any("amt is called amount" in note for note in done.notes)


def test_new_names_are_quoted_where_they_must_be() -> None:
    odd = Renames({}, {("public.t", "a"): 'select "x"', ("public.t", "b"): "order", ("public.t", "c"): "Mixed"})
    done = rewrite_sql("select t.a as x, t.b as y, t.c as z from t", "postgres", odd)
    assert done.sql == 'select t."select ""x""" as x, t."order" as y, t."Mixed" as z from t'


def test_views_that_follow_a_rename_say_the_same() -> None:
    renames = Renames({"public.t": "public.t2"}, {("public.t", "amt"): "amount"})
    assert same_definition("SELECT amt\n FROM public.t;", "SELECT amount AS amt FROM public.t2;", renames, "postgres")
    assert not same_definition("SELECT amt FROM public.t", "SELECT id AS amt FROM public.t2", renames, "postgres")
    back = Renames({}, {("public.t", "amount"): "amt"})
    assert same_definition("SELECT amount AS amt FROM public.t", "SELECT amt FROM public.t", back, "postgres")
    assert same_definition("SELECT  a", "SELECT a", Renames({}, {}), "postgres")
    assert not same_definition("SELECT a", "SELECT b", Renames({}, {}), "postgres")


def test_patch_of_the_semantic_model(repo_root: Path, tmp_path: Path) -> None:
    path = repo_root / "config" / "semantic_model.yaml"
    text = path.read_text(encoding="utf-8")
    renames = Renames(
        {"public.regions": "public.sales_regions"},
        {("public.monthly_margins", "net_margin"): "margin_net", ("public.customers", "customer_id"): "Cust No"},
    )
    patch = propose_patch(text, renames)
    added = [line[1:] for line in patch.diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    removed = [line[1:] for line in patch.diff.splitlines() if line.startswith("-") and not line.startswith("---")]
    assert len(added) == len(removed) <= len(patch.edits)
    assert any("sum(margin_net)" in line for line in added)
    assert any("table: public.sales_regions" in line for line in added)
    assert any('"Cust No"' in line for line in added)
    assert [line for line in text.splitlines() if line.strip().startswith("#")] == [
        line for line in patch.text.splitlines() if line.strip().startswith("#")
    ]
    patched = tmp_path / "model.yaml"
    patched.write_text(patch.text, encoding="utf-8")
    model = load_semantic_model(patched)
    assert model.metrics["net_margin"].expression == "sum(margin_net)"
    assert model.entities["customers"].primary_key == ('"Cust No"',)
    assert propose_patch(patch.text, Renames({}, {})).diff == ""


MODEL = """\
# kept
dialect: postgres
entities:
  t: {table: public.t, primary_key: [id]}  # kept too
  u: {table: public.u, primary_key: [id]}
joins:
  - {from: t, to: u, columns: {amt: id, z: id2}}
metrics:
  m:
    entity: t
    expression: sum(amt)
    filters: ["amt > 0"]
    dialects: {snowflake: sum(t.amt)}
  r: {type: derived, expression: amt - m}
verified_queries:
  v:
    sql: |
      SELECT t.amt
      FROM public.t AS t
  w:
    sql: SELECT amt FROM public.t JOIN public.u USING (id)
"""


def test_patch_keeps_layout_and_says_what_it_cannot() -> None:
    patch = propose_patch(MODEL, Renames({}, {("public.t", "amt"): "amount"}))
    assert "columns: {amount: id, z: id2}" in patch.text
    assert "    expression: sum(amount)\n" in patch.text
    assert '["amount > 0"]' in patch.text
    assert "r: {type: derived, expression: amt - m}" in patch.text
    assert "      SELECT t.amount AS amt\n      FROM public.t AS t\n" in patch.text
    assert "# kept too" in patch.text
    assert [key for key, _ in patch.faults] == ["verified_queries.w.sql"]
    with pytest.raises(RepairFault, match="no entities"):
        propose_patch("a: 1", Renames({}, {}))
    with pytest.raises(RepairFault, match="not YAML"):
        propose_patch("a: [", Renames({}, {}))
