-- Of each document that a run has staged and nobody has judged: counts that must be zero.
WITH waiting AS (
    SELECT
        staged.staged_no,
        staged.document_id,
        staged.title,
        staged.document_type,
        staged.chunks,
        staged.state IN ('ok', 'partial') AS searchable,
        -- a published part may be replaced by another, or a document that has only one could never change again
        staged.stage = 'embed' AND EXISTS (
            SELECT 1 FROM nightshift.document
            INNER JOIN nightshift.chunk ON document.document_no = chunk.document_no
            WHERE
                document.document_id = staged.document_id
                AND NOT (document.state = 'partial' AND document.stage = 'embed')
        ) AS loses,
        version.model_id,
        version.dimensions
    FROM nightshift.ingest_item AS item
    INNER JOIN nightshift.staged_document AS staged ON item.document_id = staged.document_id
    INNER JOIN nightshift.index_version AS version ON staged.version_no = version.version_no
    WHERE item.run_id = %(run_id)s AND item.state IS NULL AND item.staged AND NOT staged.judged -- noqa: RF02
)

SELECT
    waiting.staged_no,
    waiting.document_id,
    pieces.empty_chunks,
    pieces.oversized_chunks,
    pieces.chunks_without_vectors,
    vectors.wrong_vectors,
    abs(waiting.chunks - pieces.stored) + vectors.lost AS orphans,
    waiting.loses::integer AS lost_wholes,
    (waiting.searchable AND waiting.chunks = 0)::integer AS documents_without_chunks,
    (waiting.searchable AND btrim(waiting.title) = '')::integer AS documents_without_title,
    (waiting.searchable AND waiting.document_type IS NULL)::integer AS documents_without_type
FROM waiting
CROSS JOIN LATERAL (
    SELECT
        count(*)::integer AS stored,
        count(*) FILTER (WHERE btrim(piece.body) = '' AND btrim(piece.context) = '')::integer AS empty_chunks,
        count(*) FILTER (WHERE piece.tokens > %(max_tokens)s)::integer AS oversized_chunks,
        count(*) FILTER (WHERE cardinality(piece.windows) = 0)::integer AS chunks_without_vectors
    FROM nightshift.staged_chunk AS piece
    WHERE piece.staged_no = waiting.staged_no
) AS pieces
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE cached.embedding IS NULL)::integer AS lost,
        -- pgvector holds no infinite number; what has another length than one was not made for a cosine
        count(*) FILTER (
            WHERE
            vector_dims(cached.embedding) <> waiting.dimensions OR l2_norm(cached.embedding) NOT BETWEEN 0.9 AND 1.1
        )::integer AS wrong_vectors
    FROM nightshift.staged_chunk AS piece
    CROSS JOIN LATERAL unnest(piece.windows) AS part (text_hash)
    LEFT JOIN nightshift.embedding_cache AS cached
        ON waiting.model_id = cached.model_id AND part.text_hash = cached.text_hash
    WHERE piece.staged_no = waiting.staged_no
) AS vectors
ORDER BY waiting.staged_no
