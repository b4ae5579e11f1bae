-- `kept`: what was published of the document before still answers.
SELECT
    item.path,
    coalesce(item.state, 'unfinished') AS state,
    CASE WHEN item.staged THEN 'quality' ELSE item.stage END AS stage,
    CASE WHEN item.staged THEN 'converted, but neither judged nor published' ELSE item.reason END AS reason,
    coalesce(item.state, 'unfinished') <> 'partial' AND EXISTS (
        SELECT 1 FROM nightshift.document
        INNER JOIN nightshift.chunk ON document.document_no = chunk.document_no
        WHERE document.document_id = item.document_id
    ) AS kept
FROM nightshift.ingest_item AS item
WHERE item.run_id = %(run_id)s AND (item.state IS NULL OR item.state <> 'ok') -- noqa: RF02
ORDER BY item.source, item.path
