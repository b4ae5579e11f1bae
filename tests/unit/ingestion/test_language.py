"""Language by script and commonest words."""

from __future__ import annotations

import pytest

from ingestion.language import detect_language

TEXTS = {
    "en": "The service is down and the team that owns it has to restart the pods before the queue is full. ",
    "de": "Der Dienst ist nicht erreichbar und das Team wird den Dienst von dem Platz aus neu starten. ",
    "fr": "Le service est arr\u00eat\u00e9 et les gens qui sont dans la salle vont le relancer pour les clients. ",
    "es": "El servicio no responde y los equipos que est\u00e1n en la sala lo reinician para los clientes. ",
}


@pytest.mark.parametrize("language", sorted(TEXTS))
def test_european_languages(language: str) -> None:
    assert detect_language(TEXTS[language] * 2) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("\u0645\u0631\u062d\u0628\u0627 \u0641\u064a \u0627\u0644\u062e\u062f\u0645\u0629", "ar"),
        ("\u0421\u043b\u0443\u0436\u0431\u0430 \u043d\u0435 \u043e\u0442\u0432\u0435\u0447\u0430\u0435\u0442", "ru"),
        ("\u78c1\u76d8\u7a7a\u95f4\u4e0d\u8db3", "zh"),
        ("\uc11c\ube44\uc2a4 \uc7a5\uc560", "ko"),
    ],
)
def test_scripts(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "12 34", "short text", "kubectl get pods -n api " * 20])
def test_nothing_is_said_without_evidence(text: str) -> None:
    assert detect_language(text) == ""
