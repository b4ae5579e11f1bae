"""The batch file that `nightshift batch new` writes."""

from __future__ import annotations

import json
from pathlib import Path

from rag_core.batch.definition import load_batch
from rag_core.errors import ConfigurationError

_TEXT = """\
# yaml-language-server: $schema={schema}
# Check it with `nightshift batch validate`, run it with `nightshift batch run {name} --no-publish`.
title: {title}
description: What these questions are about, in a sentence.
# Minute, hour, day of the month, month, day of the week; without a schedule the batch runs by hand.
schedule: "0 3 * * 1-5"
timezone: UTC
owner: {owner}
audience: whoever reads the report
questions:
  - question_id: revenue_last_quarter
    title: Revenue last quarter
    text: What was our revenue last quarter?
    headline: revenue
    expectations:
      - {{kind: row_count, min: 1, max: 1}}
  # One question for each value; the id must hold the name.
  - question_id: revenue_{{region}}
    title: Revenue of {{region}} in {{last_month}}
    text: What was revenue of {{region}} in {{last_month}}?
    for_each:
      region: [Nordics, DACH]
"""


def write_skeleton(folder: Path, name: str, *, title: str | None = None, owner: str = "nightshift") -> Path:
    """Writes `<folder>/<name>.yaml`, which is valid as it stands. Raises ConfigurationError where it exists."""
    path = folder / f"{name}.yaml"
    text = _TEXT.format(
        name=name,
        schema="../schemas/batch.schema.json",
        # JSON's strings are YAML's, whatever stands in them.
        title=json.dumps(title or name.replace("_", " ").capitalize(), ensure_ascii=False),
        owner=json.dumps(owner, ensure_ascii=False),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ConfigurationError(f"{path} exists already: choose another name") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
    try:
        load_batch(path)
    except ConfigurationError:
        path.unlink()
        raise
    return path
