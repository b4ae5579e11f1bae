"""What any embedder must keep to, on the double and on the packaged model."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from rag_core.connectors.base import Embedder
from rag_core.connectors.embedder import load_embedder
from rag_core.connectors.memory_embedder import WordHashEmbedder


@pytest.fixture(
    params=["double", pytest.param("packaged", marks=pytest.mark.integration)], scope="module", name="subject"
)
def fixture_subject(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "double":
        yield WordHashEmbedder()
    else:
        yield load_embedder("packaged:all-minilm-l6-v2", batch_size=4)


def cosine(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def test_vectors_have_the_stated_length_and_are_normalised(subject: Embedder) -> None:
    for vector in subject.embed(["disk full", "", "🎉", "a" * 5_000]):
        assert len(vector) == subject.dimensions
        assert math.sqrt(cosine(vector, vector)) == pytest.approx(1.0, abs=1e-5)


def test_the_order_is_that_of_the_texts_and_batches_do_not_matter(subject: Embedder) -> None:
    texts = [f"document number {number} " + "word " * (number * 7 % 40) for number in range(11)]
    together = subject.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        (alone,) = subject.embed([text])
        assert cosine(alone, vector) == pytest.approx(1.0, abs=1e-4)


def test_no_texts_give_no_vectors(subject: Embedder) -> None:
    assert subject.embed([]) == []


def test_a_tail_within_the_limit_changes_the_vector(subject: Embedder) -> None:
    head = "word " * (subject.max_tokens - 3)
    first, second = subject.embed([head + "disk", head + "kraken"])
    assert cosine(first, second) < 0.999999


def test_texts_of_like_content_are_nearer(subject: Embedder) -> None:
    question, near, far = subject.embed(
        ["the disk of the node is full", "a full disk on the node", "recipes for sourdough bread"]
    )
    assert cosine(question, near) > cosine(question, far)


def test_spans_lie_in_the_text_in_order(subject: Embedder) -> None:
    text = "KubePodCrashLooping: naïve café 日本, end."
    spans = subject.token_spans(text)
    assert spans == sorted(spans)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert text[slice(*spans[-1])] == "."


def test_the_model_is_named_with_a_version(subject: Embedder) -> None:
    assert "@" in subject.model_id


def test_many_texts_at_once_give_the_vectors_of_each_alone(subject: Embedder) -> None:
    # More than one batch a core: they are embedded side by side.
    texts = [f"incident {number}: " + "the queue of the gateway was full " * (number % 20) for number in range(40)]
    together = subject.embed(texts)
    for number in (0, 7, 19, 39):
        (alone,) = subject.embed([texts[number]])
        assert cosine(alone, together[number]) == pytest.approx(1.0, abs=1e-4)
