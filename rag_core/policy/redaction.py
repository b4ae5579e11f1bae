"""Takes secrets out of text that goes to logs, messages and traces."""

from __future__ import annotations

import re

HIDDEN = "***"

_KEY_WORDS = r"pass(?:word|wd|code|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?"
_KEY = rf"(?<![A-Za-z])[\w-]*(?:{_KEY_WORDS})\b[\"']?\s*[=:]\s*"
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # The password of a URL: scheme://user:password@host. A password may itself hold an @, so the last one counts.
    (re.compile(r"(?P<keep>\b[a-z][a-z0-9+.-]*://[^\s:/@'\"]*:)[^\s/'\"]+(?=@)", re.IGNORECASE), rf"\g<keep>{HIDDEN}"),
    # PEM blocks, whole or cut off.
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        HIDDEN,
    ),
    # Authorization headers, and bearer tokens wherever they stand.
    (re.compile(r"(?P<keep>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\g<keep>{HIDDEN}"),
    # Keys by their well-known beginnings: OpenAI and alike, AWS, GitHub, Slack, Google, JSON web tokens.
    (
        re.compile(
            r"\b(?:sk-[A-Za-z0-9_-]{12,}|A(?:KIA|SIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}"
            r"|AIza[A-Za-z0-9_-]{30,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"
        ),
        HIDDEN,
    ),
    # key=value, key: value and "key": "value", also as parameters of URLs and as environment variables.
    (re.compile(rf"(?P<keep>{_KEY}(?P<quote>[\"']))(?:(?!(?P=quote)).)+", re.IGNORECASE), rf"\g<keep>{HIDDEN}"),
    (re.compile(rf"(?P<keep>{_KEY})(?!\*\*\*)[^\s\"'&;,]+", re.IGNORECASE), rf"\g<keep>{HIDDEN}"),
)


def redact(text: str) -> str:
    """The text with passwords, keys and tokens replaced by `***`. Idempotent; everything else stays as it is."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text
