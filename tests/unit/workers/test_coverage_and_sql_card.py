from __future__ import annotations

from datetime import UTC, datetime

from rag_core.datamodel.catalog import Catalog, CatalogColumn, CatalogTable
from rag_core.schema.joins import Join
from rag_core.schema.knowledge import Known
from rag_core.semantics.definitions import Dimension, Entity, SemanticModel
from rag_core.workers.coverage import cover, spoken_names
from rag_core.workers.sql_card import describe_schema


def table(name: str, *columns: CatalogColumn, readable: bool = True) -> CatalogTable:
    return CatalogTable(schema_name="public", name=name, columns=columns, readable=readable)


CATALOG = Catalog(
    dialect="postgres",
    database="d",
    taken_at=datetime(2026, 1, 1, tzinfo=UTC),
    tables=(
        table(
            "flight",
            CatalogColumn(name="flight_id", type="bigint"),
            CatalogColumn(name="departure_time", type="timestamp without time zone"),
            CatalogColumn(name="airline_code", type="character varying(3)", comment="Who flies"),
        ),
        table("airline", CatalogColumn(name="airline_code", type="text"), CatalogColumn(name="kind", type="text")),
        table("hidden", CatalogColumn(name="salary", type="numeric"), readable=False),
    ),
)
JOIN = Join(
    left="public.flight.airline_code",
    right="public.airline.airline_code",
    source="inferred",
    confidence=0.9,
    status="usable",
    left_table="public.flight",
    left_columns=("airline_code",),
    right_table="public.airline",
    right_columns=("airline_code",),
)
KNOWN = Known(values={"public.airline.kind": ("cargo", "charter")}, joins=(JOIN,))


def test_the_whole_schema_is_the_same_for_every_question_and_values_come_apart() -> None:
    text, named = describe_schema("How many cargo flights left yesterday?", CATALOG, KNOWN)
    other, none = describe_schema("How many airlines are there?", CATALOG, KNOWN)
    assert text == other
    assert text.splitlines() == [
        "airline(airline_code text, kind text [cargo|charter])",
        "flight(flight_id bigint, departure_time timestamp, airline_code varchar (Who flies))",
        "Joins:",
        "flight.airline_code = airline.airline_code",
    ]
    assert (named, none) == ("airline.kind = 'cargo'", "")


def test_what_may_not_be_read_is_not_told_and_a_large_schema_becomes_a_card() -> None:
    text, _ = describe_schema("salary", CATALOG, KNOWN)
    assert "salary" not in text
    small, _ = describe_schema("How many flights?", CATALOG, KNOWN, tokens=12)
    assert "(Who flies)" not in small
    assert "public.flight" in small


def test_a_question_about_something_else_is_foreign() -> None:
    for question in (
        "What is the national animal of Canada?",
        "How does the chemical composition of paper affect its durability?",
        "Can you recommend a restaurant with ocean views?",
    ):
        assert cover(question, CATALOG, KNOWN.values).foreign, question


def test_a_question_in_the_schemas_words_is_not() -> None:
    for question in (
        "How many cargo flights depart each month?",
        "Which airline flies most often?",
        "What is the FPA in the last 7 days?\nFPA = flights per airline",
        "How many?",
    ):
        assert not cover(question, CATALOG, KNOWN.values).foreign, question


def test_words_that_a_question_defines_are_explained() -> None:
    assert "fpa" in cover("FPA = flights per airline. What is the FPA?", CATALOG, KNOWN.values).known
    assert "fpa" in cover("What is the FPA?", CATALOG, KNOWN.values).unknown


def test_a_table_that_is_called_like_a_word_of_asking_is_a_subject() -> None:
    orders = CATALOG.model_copy(update={"tables": (table("orders", CatalogColumn(name="channel", type="text")),)})
    assert cover("Which orders came through partners in April?", orders, {}).known == ("order",)


def test_what_a_semantic_model_calls_things_is_understood() -> None:
    question = "What did the churners pay?"
    assert cover(question, CATALOG, KNOWN.values).foreign
    model = SemanticModel(
        entities={"flight": Entity(table="public.flight", primary_key=("flight_id",), grain="a flight")},
        time_dimensions={},
        dimensions={
            "lost": Dimension(label="Churners", entity="flight", expression="airline_code", synonyms=("what they pay",))
        },
        metrics={},
    )
    assert cover(question, CATALOG, KNOWN.values, spoken_names(model)).unknown == ()


def test_of_a_question_in_another_language_nothing_is_said() -> None:
    for question in (
        "Welche Kunden haben letzten Monat gekündigt?",
        "Quel est le chiffre d'affaires du dernier trimestre ?",
        "Hur många kunder lämnade oss under fjärde kvartalet?",
    ):
        covered = cover(question, CATALOG, KNOWN.values)
        assert (covered.english, covered.foreign, len(covered.unknown) > 1) == (False, False, True)
