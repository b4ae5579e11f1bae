-- Folders below which sources have their documents: those that a run has listed, and those of documents that lie at given
-- places. A document's folder is its location less its path.
WITH held AS (
    SELECT DISTINCT
        source,
        coalesce(nullif(left(location, length(location) - length(path) - 1), ''), '/') AS folder,
        location = any(%(locations)s) AS named
    FROM nightshift.document
    WHERE right(location, length(path) + 1) = '/' || path
)

SELECT DISTINCT
    source,
    folder
FROM held
WHERE
    named
    OR EXISTS (
        SELECT 1 FROM nightshift.ingest_run
        WHERE ingest_run.roots @> to_jsonb(held.folder)
    )
ORDER BY source, folder
