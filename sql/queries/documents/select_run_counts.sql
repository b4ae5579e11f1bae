SELECT
    count(*) FILTER (WHERE state = 'ok' AND NOT moved) AS indexed,
    count(*) FILTER (WHERE state = 'ok' AND moved) AS moved,
    count(*) FILTER (WHERE state = 'partial') AS partial,
    count(*) FILTER (WHERE state IS NOT NULL AND state NOT IN ('ok', 'partial')) AS failed,
    count(*) FILTER (WHERE state IS NULL AND staged) AS staged,
    count(*) FILTER (WHERE state IS NULL AND NOT staged) AS unfinished,
    coalesce(sum(chunks), 0) AS chunks,
    coalesce(sum(embeddings), 0) AS embeddings
FROM nightshift.ingest_item
WHERE run_id = %(run_id)s
