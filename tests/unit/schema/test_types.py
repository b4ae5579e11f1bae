"""Canonical types and what a change of type means."""

from __future__ import annotations

import pytest

from rag_core.schema.types import canonical_type, compare_types, same_family


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("integer", "int4"),
        ("serial", "integer"),
        ("int8", "bigint"),
        ("varchar(20)", "character varying(20)"),
        ("timestamptz", "timestamp with time zone"),
        ("timestamp(3) with time zone", "timestamptz(3)"),
        ("timestamp(6) without time zone", "timestamp"),
        ("decimal(10,2)", "numeric(10, 2)"),
        ("numeric(5)", "numeric(5,0)"),
        ("float(24)", "real"),
        ("float8", "double precision"),
        ("bool", "boolean"),
        ("char", "character(1)"),
        ("NUMBER(38,0)", "numeric(38,0)"),
        ("STRING", "text"),
        ("INT64", "bigint"),
        ("DATETIME", "timestamp"),
        ("TIMESTAMP_NTZ(9)", "timestamp(9)"),
        ("int4[]", "integer[]"),
    ],
)
def test_aliases_are_equal(one: str, other: str) -> None:
    assert canonical_type(one) == canonical_type(other)
    assert compare_types(one, other) == "equal"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("numeric(10,2)", "numeric(12,2)", "widened"),
        ("numeric(10,2)", "numeric(12,4)", "widened"),
        ("numeric(10,2)", "numeric", "widened"),
        ("numeric(10,2)", "numeric(10,4)", "narrowed"),
        ("numeric(12,2)", "numeric(5,0)", "narrowed"),
        ("numeric(12,2)", "integer", "narrowed"),
        ("numeric(12,2)", "double precision", "narrowed"),
        ("smallint", "integer", "widened"),
        ("integer", "bigint", "widened"),
        ("bigint", "integer", "narrowed"),
        ("integer", "numeric(12,2)", "widened"),
        ("integer", "numeric(11,2)", "narrowed"),
        ("integer", "double precision", "widened"),
        ("bigint", "double precision", "narrowed"),
        ("real", "double precision", "widened"),
        ("double precision", "real", "narrowed"),
        ("varchar(20)", "varchar(50)", "widened"),
        ("varchar(20)", "varchar(10)", "narrowed"),
        ("varchar(20)", "varchar", "widened"),
        ("varchar(20)", "text", "widened"),
        ("text", "varchar(20)", "narrowed"),
        ("character(10)", "varchar(10)", "changed"),
        ("timestamp(3)", "timestamp", "widened"),
        ("timestamptz", "timestamptz(0)", "narrowed"),
        ("timestamp", "timestamptz", "changed"),
        ("date", "timestamptz", "changed"),
        ("integer", "text", "changed"),
        ("boolean", "integer", "changed"),
        ("integer", "integer[]", "changed"),
        ("integer[]", "bigint[]", "widened"),
        ("public.mood", "public.feeling", "changed"),
        ('public."Mood"', "public.mood", "changed"),
        ("vector(384)", "vector(768)", "changed"),
        ("interval", "interval day to second", "changed"),
    ],
)
def test_meaning_of_a_change(before: str, after: str, expected: str) -> None:
    assert compare_types(before, after) == expected


def test_text_is_the_canonical_spelling() -> None:
    assert canonical_type("timestamp(3) with time zone[]").text == "timestamp with time zone(3)[]"
    assert canonical_type("struct<a int, b text>").text == "struct<a int, b text>"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("integer", "bigint", True),
        ("integer", "numeric(38,0)", True),
        ("integer", "numeric(10,2)", False),
        ("varchar(3)", "text", True),
        ("uuid", "text", False),
        ("integer", "integer[]", False),
    ],
)
def test_families_for_joins(one: str, other: str, same: bool) -> None:
    assert same_family(one, other) is same
