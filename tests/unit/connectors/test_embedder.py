"""The packaged embedding model: what can be known without loading its weights."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_core.connectors.embedder import TOKENS_TOGETHER, load_embedder, offline_hub
from rag_core.errors import ConfigurationError


def test_the_packaged_model_says_what_it_is() -> None:
    embedder = load_embedder("packaged:all-minilm-l6-v2", batch_size=8)
    assert embedder.model_id.startswith("all-minilm-l6-v2@")
    assert embedder.dimensions == 384
    assert embedder.max_tokens == 254  # 256 with the two special tokens


def test_spans_cover_a_long_text_to_its_end() -> None:
    embedder = load_embedder("packaged:all-minilm-l6-v2", batch_size=8)
    text = "word " * 1_000 + "end"
    spans = embedder.token_spans(text)
    assert len(spans) == 1_001
    assert text[slice(*spans[-1])] == "end"
    assert embedder.token_spans("") == []


def test_counting_tokens_does_not_load_torch(repo_root: Path) -> None:
    script = (
        "import sys\n"
        "from rag_core.connectors.embedder import load_embedder\n"
        "load_embedder('packaged:all-minilm-l6-v2', batch_size=8).token_spans('a b')\n"
        "sys.exit('torch' in sys.modules or 'sentence_transformers' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=repo_root, check=False).returncode == 0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("packaged:nonsense", "packaged:all-minilm-l6-v2"),
        ("no-such/model-anywhere", "hf download"),
        ("not a hub name!", "hf download"),
    ],
)
def test_an_unknown_model_is_one_clear_line(model: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_embedder(model, batch_size=8)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_batch_size_must_be_positive() -> None:
    with pytest.raises(ConfigurationError, match="BATCH_SIZE"):
        load_embedder("packaged:all-minilm-l6-v2", batch_size=0)


def test_the_hub_is_off_only_while_a_model_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    with offline_hub():
        assert os.environ["TRANSFORMERS_OFFLINE"] == "1"
    assert "TRANSFORMERS_OFFLINE" not in os.environ


def test_batches_hold_texts_of_like_length_within_a_bound_on_tokens() -> None:
    embedder = load_embedder("packaged:all-minilm-l6-v2", batch_size=32)
    texts = ["word " * length for length in (5, 250, 3, 250, 4, 250, 250, 250, 250, 250, 250, 250, 1_000)]
    batches = embedder._batches(texts)
    assert sorted(number for batch in batches for number in batch) == list(range(len(texts)))
    longest = [max(len(texts[number].split()) for number in batch) for batch in batches]
    assert longest == sorted(longest, reverse=True)
    for batch in batches:
        padded = len(batch) * min(max(len(texts[number].split()) for number in batch) + 2, 256)
        assert padded <= TOKENS_TOGETHER
    assert [texts[number] for number in batches[-1]][-1] == "word " * 3
