-- Vectors that must not serve are computed anew when the document is next tried.
DELETE FROM nightshift.embedding_cache
USING
    nightshift.staged_chunk AS piece,
    nightshift.staged_document AS staged,
    nightshift.index_version AS version
WHERE
    piece.staged_no = any(%(staged)s)
    AND piece.staged_no = staged.staged_no
    AND staged.version_no = version.version_no
    AND embedding_cache.model_id = version.model_id
    AND embedding_cache.text_hash = any(piece.windows)
    AND (
        vector_dims(embedding_cache.embedding) <> version.dimensions
        OR l2_norm(embedding_cache.embedding) NOT BETWEEN 0.9 AND 1.1
    )
