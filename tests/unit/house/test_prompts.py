"""Every prompt loads, has its version, and is used."""

from __future__ import annotations

import ast

from rag_core.prompts.loader import load_prompt
from tests.unit.house.source import ROOT, calls, modules

NAMES = sorted(path.stem for path in (ROOT / "rag_core" / "prompts").glob("*.md"))


def test_every_prompt_loads() -> None:
    assert NAMES
    prompts = [load_prompt(name) for name in NAMES]
    assert all(prompt.system and prompt.user for prompt in prompts)
    assert len({prompt.version for prompt in prompts}) == len(prompts)


def test_prompts_and_their_callers_agree() -> None:
    named = {
        call.args[0].value
        for module in modules()
        for call in calls(module.tree, "load_prompt")
        if call.args and isinstance(call.args[0], ast.Constant)
    }
    assert named == set(NAMES)
