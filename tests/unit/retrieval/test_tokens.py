"""Words for BM25: identifiers whole and in parts, any script, no operators."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import Stemmer

from rag_core.retrieval.tokens import CONTEXT_WEIGHT, stem, term_counts, tokenize

LETTERS = "bcdfgl"
ENDINGS = ("ationally", "ingness", "ements", "icities", "iveness")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("KubePodCrashLooping", ["kubepodcrashloop", "kube", "pod", "crash", "loop"]),
        ("node-exporter", ["node-exporter", "node", "export"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("version 1.10", ["version", "1.10"]),
        ("on 2024-01-02", ["2024-01-02", "2024"]),
        ("foo.conf", ["foo.conf", "foo", "conf"]),
        ("C++ and C#", ["c++", "c#"]),
        ("k8s S3", ["k8s", "s3"]),
        ("APIs", ["api"]),
        ("1,000 rows", ["1000", "row"]),
        ("naïve café", ["naiv", "cafe"]),
    ],
)
def test_identifiers_are_kept_whole_and_in_parts(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


@pytest.mark.parametrize("text", ["the of and", "", "   ", "🎉", ":*", "(((", "'", "a & | b", "\x00", "---"])
def test_texts_without_words_give_no_terms(text: str) -> None:
    assert tokenize(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What's your password policies?", ["password", "polici"]),
        ("-error", ["error"]),
        ("C++ AND error", ["c++", "error"]),
        ("NOT error OR warning", ["error", "warn"]),
        ('"exact phrase"', ["exact", "phrase"]),
    ],
)
def test_nothing_in_a_query_is_an_operator(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


def test_a_name_is_found_by_plain_words_and_by_itself() -> None:
    stored = set(tokenize("Runbook for KubePersistentVolumeFillingUp on /var/lib/kubelet"))
    assert set(tokenize("persistent volumes filling")) <= stored
    assert set(tokenize("kubepersistentvolumefillingup")) <= stored
    assert tokenize("NodeDiskFull")[0] == tokenize("nodediskfull")[0]
    assert set(tokenize("kubelet")) <= stored


def test_scripts_without_spaces_become_pairs_of_characters() -> None:
    assert tokenize("日本語テスト") == ["日本", "本語", "語テ", "テス", "スト"]
    assert set(tokenize("日本")) <= set(tokenize("日本語テスト"))


def test_words_of_other_scripts_stay_whole() -> None:
    assert tokenize("नमस्ते दुनिया")[0] == "नमस्ते"
    assert tokenize("مرحبا بالعالم") == ["مرحبا", "بالعالم"]


def test_a_word_of_any_length_keeps_a_findable_form() -> None:
    assert tokenize("x" * 5_000) == ["x" * 64]


def test_context_counts_with_its_weight() -> None:
    counts = term_counts("disk disk full", "Disk alert")
    assert counts["disk"] == 2 + CONTEXT_WEIGHT
    assert counts["alert"] == CONTEXT_WEIGHT


def test_stems_are_those_that_indexes_hold() -> None:
    """Other stems need another TOKENS_VERSION: what is indexed under the old ones would not be found."""
    stems = {
        "generously": "generous",
        "generalization": "general",
        "skies": "sky",
        "dying": "die",
        "news": "news",
        "succeeding": "succeed",
        "proceeded": "proceed",
        "running": "run",
        "hopping": "hop",
        "argued": "argu",
        "consolingly": "consol",
        "indices": "indic",
        "queries": "queri",
        "universities": "universiti",
        "communism": "communism",
        "arsenal": "arsenal",
        "past": "past",
        "evening": "evening",
    }
    assert {word: stem(word) for word in stems} == stems


def test_threads_do_not_get_parts_of_each_others_words() -> None:
    """The stemmer works on a word inside itself; with many switches of threads an unguarded one gives wrong stems."""
    words = [f"{first}{second}{ending}" for first in LETTERS for second in LETTERS for ending in ENDINGS]
    expected = {word: Stemmer.Stemmer("english").stemWord(word) for word in words}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda part: {word: stem.__wrapped__(word) for word in part}, [words] * 8))
    finally:
        sys.setswitchinterval(interval)
    assert all(each == expected for each in found)
