-- `reuse`: chunks that are published of it were counted by the same tokeniser. `loses`: it has no text now, and what is
-- published of it has.
SELECT
    staged.staged_no,
    staged.document_id,
    staged.fault,
    staged.version_no,
    coalesce(published.lexical_version = staged.lexical_version, false) AS reuse,
    staged.state NOT IN ('ok', 'partial') AND EXISTS (
        SELECT 1 FROM nightshift.chunk
        WHERE chunk.document_no = published.document_no
    ) AS loses
FROM nightshift.staged_document AS staged
LEFT JOIN nightshift.document AS published ON staged.document_id = published.document_id
WHERE staged.staged_no = any(%(staged)s)
ORDER BY staged.staged_no
