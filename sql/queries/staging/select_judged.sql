SELECT staged.staged_no
FROM nightshift.ingest_item AS item
INNER JOIN nightshift.staged_document AS staged ON item.document_id = staged.document_id
WHERE item.run_id = %(run_id)s AND item.state IS NULL AND item.staged AND staged.judged -- noqa: RF02
ORDER BY staged.source, staged.path
