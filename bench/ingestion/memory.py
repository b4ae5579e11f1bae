"""The memory of `nightshift ingest` with all its processes, sampled while it runs over real documents.

Usage: python -m bench.ingestion.memory DATA [COUNT]

DATA is the folder with `files`, `devops/files` and `scifact/corpus.jsonl`. PDF and Office files are among the
documents, so that the converter holds Docling. The peak is of the sum over the command and everything that it
started, each process by its proportional share (pages that several processes map are counted once); the embedded
PostgreSQL is told apart. Memory that only stands reserved counts nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.ingestion.setting import copy_documents, report, sampled_memory, temporary_folder


def main() -> None:
    data, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    with temporary_folder() as home, temporary_folder() as folder:
        files = [path for path in sorted((data / "files").iterdir()) if path.is_file()]
        for path in files:
            shutil.copyfile(path, folder / path.name)
        copy_documents(data, folder, count - len(files))
        environment = os.environ | {"NIGHTSHIFT_HOME": str(home)}
        command = [str(Path(sys.executable).with_name("nightshift"))]
        subprocess.run([*command, "up"], env=environment, check=True, stdout=subprocess.DEVNULL)
        try:
            with (
                subprocess.Popen(
                    [*command, "ingest", str(folder), "--json"], env=environment, stdout=subprocess.PIPE, text=True
                ) as process,
                sampled_memory(process.pid, str(home)) as peak,
            ):
                output, _ = process.communicate()
        finally:
            subprocess.run([*command, "down"], env=environment, check=True, stdout=subprocess.DEVNULL)
    outcome = json.loads(output)
    report(
        "memory",
        {
            "documents": outcome["documents"],
            "embeddings": outcome["embeddings_computed"],
            "seconds": outcome["seconds"],
            "peak_megabytes": peak.megabytes(),
        },
    )


if __name__ == "__main__":
    main()
