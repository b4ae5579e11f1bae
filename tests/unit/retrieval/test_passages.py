"""Sentences of a chunk, verbatim."""

from __future__ import annotations

from rag_core.retrieval.passages import MAX_QUOTE_CHARACTERS, key_sentences, split_sentences

TEXT = """Intro text, e.g. this one. The pool is 40 connections! See it.
More on line two.

- item one: restart the primary. Then drain.
1. second item

| a | b |
|---|---|
| retention | 90 days |

```
kubectl get pods. Then wait.
```

## Heading
Tail. 日本語です。次の文。"""


def test_every_sentence_stands_in_the_text_word_for_word() -> None:
    sentences = split_sentences(TEXT)
    assert [each.text for each in sentences] == [
        "Intro text, e.g. this one.",
        "The pool is 40 connections!",
        "See it.",
        "More on line two.",
        "item one: restart the primary.",
        "Then drain.",
        "second item",
        "| a | b |",
        "| retention | 90 days |",
        "kubectl get pods. Then wait.",
        "Tail.",
        "日本語です。",
        "次の文。",
    ]
    assert all(TEXT[each.start : each.end] == each.text for each in sentences)


def test_the_sentences_that_answer_are_quoted_in_the_order_of_the_text() -> None:
    quotes = key_sentences(TEXT, {"pool": 2.0, "drain": 1.5, "kubectl": 1.0})
    assert quotes == ("The pool is 40 connections!", "Then drain.", "kubectl get pods. Then wait.")


def test_a_sentence_that_adds_nothing_is_not_quoted() -> None:
    assert key_sentences("Disk full. The disk is full. Disk.", {"disk": 1.0, "full": 1.0}) == ("Disk full.",)


def test_nothing_is_quoted_where_no_word_is_shared() -> None:
    assert key_sentences(TEXT, {"kraken": 3.0}) == ()
    assert key_sentences("", {"disk": 1.0}) == ()


def test_a_quote_has_a_bounded_length_and_stays_verbatim() -> None:
    text = "disk " * 500
    (quote,) = key_sentences(text, {"disk": 1.0})
    assert len(quote) == MAX_QUOTE_CHARACTERS
    assert quote in text
