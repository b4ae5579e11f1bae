"""Language of a text by its script and its commonest words. Pure and small: it decides among few, or says nothing."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
_LEAST_WORDS = 20
_SCRIPTS = {
    "ARABIC": "ar", "HEBREW": "he", "CYRILLIC": "ru", "GREEK": "el", "HANGUL": "ko", "THAI": "th",
    "HIRAGANA": "ja", "KATAKANA": "ja", "CJK": "zh", "DEVANAGARI": "hi",
}  # fmt: skip
# Function words that one of these languages has and the others hardly use.
_WORDS = {
    "en": "the of and to is that for with are this be was were from which have has not it on by",
    "de": "der die das und ist nicht mit den von ein eine dem des auf wird werden sich auch f\u00fcr zu",
    "fr": "le les des est une dans pour qui que sur avec pas du au sont ce cette et nous vous",
    "es": "el los las del que una por con para es se como pero m\u00e1s su al lo son est\u00e1 y",
    "it": "il gli che della di per con una sono nel alla non le dei pi\u00f9 anche questo dal si \u00e8",
    "nl": "het een van voor niet met zijn aan door naar ook worden deze wordt dat maar bij en op is",
    "pt": "os as do da dos das que uma para com n\u00e3o por mais como ao na no em s\u00e3o e",
    "sv": "och att det som \u00e4r en av f\u00f6r med den till inte p\u00e5 har om ett vi kan fr\u00e5n vid",
}
_MARKERS = {language: frozenset(words.split()) for language, words in _WORDS.items()}


def detect_language(text: str) -> str:
    """ISO 639-1 code, or an empty text where the text is too short or no language stands out."""
    words = _WORD.findall(text[:_SAMPLE].lower())
    if not words:
        return ""
    scripts = Counter(_SCRIPTS.get(unicodedata.name(word[0], "").partition(" ")[0], "") for word in words)
    script, count = max(scripts.items(), key=lambda item: (item[1], item[0]))
    if script and count * 2 > len(words):
        # Japanese is written with Chinese characters among its own.
        return "ja" if script == "zh" and scripts["ja"] * 10 > count else script
    if len(words) < _LEAST_WORDS:
        return ""
    hits = {language: sum(word in markers for word in words) for language, markers in _MARKERS.items()}
    ranked = sorted(hits.items(), key=lambda item: (-item[1], item[0]))
    (best, most), (_, second) = ranked[0], ranked[1]
    return best if most * 20 >= len(words) and most >= 1.3 * second else ""
