"""One reader a format. Each turns the bytes of a file into blocks; `ingestion.convert` chooses among them."""
