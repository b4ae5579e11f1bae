INSERT INTO nightshift.chunk (
    document_no, ordinal, body, context, heading_path, page, kind, tokens, terms, text_hash
)
SELECT
    new.document_no,
    new.ordinal,
    new.body,
    new.context,
    new.heading_path,
    new.page,
    new.kind,
    new.tokens,
    new.terms,
    decode(new.text_hash, 'hex') AS text_hash
FROM
    jsonb_to_recordset(%(chunks)s::jsonb) AS new (
        document_no integer,
        ordinal integer,
        body text,
        context text,
        heading_path text [],
        page integer,
        kind text,
        tokens integer,
        terms integer,
        text_hash text
    )
ORDER BY new.document_no, new.ordinal
RETURNING document_no, ordinal, chunk_no
