-- Counts that must be zero after a run, over the documents it changed; orphans over the whole index.
WITH touched AS (
    SELECT document_no, title, document_type
    FROM nightshift.document
    WHERE last_run_id = %(run_id)s AND state IN ('ok', 'partial')
),

pieces AS (
    SELECT c.chunk_no, c.body, c.context, c.tokens
    FROM nightshift.chunk AS c
    INNER JOIN touched AS t ON c.document_no = t.document_no
),

serving AS (
    SELECT version_no, dimensions FROM nightshift.index_version WHERE status = 'serving'
),

vectors AS (
    SELECT w.chunk_no, w.embedding, s.dimensions
    FROM nightshift.chunk_window AS w
    INNER JOIN serving AS s ON w.version_no = s.version_no
    INNER JOIN pieces AS p ON w.chunk_no = p.chunk_no
)

SELECT
    (SELECT count(*) FROM pieces WHERE btrim(body) = '' AND btrim(context) = '') AS empty_chunks,
    (SELECT count(*) FROM pieces WHERE tokens > %(max_tokens)s) AS oversized_chunks,
    (
        SELECT count(*) FROM pieces AS p
        WHERE NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.chunk_no = p.chunk_no)
    ) AS chunks_without_vectors,
    (
        SELECT count(*) FROM vectors
        WHERE vector_dims(embedding) <> dimensions OR l2_norm(embedding) NOT BETWEEN 0.9 AND 1.1
    ) AS wrong_vectors,
    (SELECT count(*) FROM touched WHERE btrim(title) = '') AS documents_without_title,
    (SELECT count(*) FROM touched WHERE document_type IS NULL) AS documents_without_type,
    (
        SELECT count(*) FROM nightshift.posting AS p
        WHERE NOT EXISTS (SELECT 1 FROM nightshift.chunk AS c WHERE c.chunk_no = p.chunk_no)
    ) AS orphans;
