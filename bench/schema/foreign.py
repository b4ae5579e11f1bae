"""Which questions a warehouse is said not to speak of: `python -m bench.schema.foreign --data FOLDER`.

Questions of the sample over the sample's schema with its semantic model; of defog, those that can be answered and those
that cannot, over the names of their own databases, and the latter over the sample's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.schema.databases import load_sample, server
from bench.schema.gold import described
from rag_core.evaluation.sql_questions import read_questions, read_unanswerable
from rag_core.semantics.model import load_semantic_model
from rag_core.workers.coverage import cover, spoken_names
from sample.facts import load_facts


def main() -> None:
    """Prints how many questions of each kind are refused."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds defog")
    folder = parser.parse_args().data / "defog"
    unanswerable = read_unanswerable(folder / "questions")
    for name, questions in (("answerable", read_questions(folder / "questions")), ("unanswerable", unanswerable)):
        schemas = {each: described(folder, each, "postgres") for each in {item.database for item in questions}}
        refused = sum(cover(item.asked, schemas[item.database], {}).foreign for item in questions)
        print(f"defog, {name}, own database: {refused} of {len(questions)} refused")
    spoken = spoken_names(load_semantic_model(Path("config/semantic_model.yaml")))
    with server() as started:
        warehouse = load_sample(started)
        catalog = warehouse.snapshot()
        warehouse.close()
    facts = load_facts()
    asked = {
        kind: [str(fact["question"]) for fact in facts[kind] if "question" in fact]
        for kind in ("warehouse", "combined")
    }
    for name, texts in (*asked.items(), ("defog, unanswerable", [item.text for item in unanswerable])):
        refused = sum(cover(text, catalog, {}, spoken).foreign for text in texts)
        print(f"sample's schema, {name}: {refused} of {len(texts)} refused")


if __name__ == "__main__":
    main()
