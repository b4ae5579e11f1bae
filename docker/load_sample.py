"""Loads the sample company into the compose file's databases: python docker/load_sample.py WAREHOUSE_DSN DOCUMENTS.

WAREHOUSE_DSN names the warehouse as its owner; DOCUMENTS is the folder that ingestion reads. A second run changes
nothing.
"""

import shutil
import sys
from pathlib import Path

import psycopg

from rag_core.provision import ensure_reader_role
from sample.warehouse.load import WarehouseNotEmptyError, load_warehouse

BUILT = Path(__file__).resolve().parents[1] / "sample-documents"


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 where the database refuses or holds something else."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python docker/load_sample.py WAREHOUSE_DSN DOCUMENTS\n")
        return 2
    warehouse, documents = arguments
    try:
        rows = sum(load_warehouse(warehouse).values())
        ensure_reader_role(warehouse)
    except (WarehouseNotEmptyError, psycopg.Error) as error:
        sys.stderr.write(f"sample: not loaded: {error}\n")
        return 1
    shutil.copytree(BUILT, documents, dirs_exist_ok=True)
    files = sum(path.is_file() for path in BUILT.rglob("*"))
    sys.stdout.write(f"sample: {rows} rows in the warehouse, {files} documents in {documents}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
