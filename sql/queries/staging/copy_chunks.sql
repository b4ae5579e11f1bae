COPY nightshift.staged_chunk (
    staged_no, ordinal, body, context, heading_path, page, kind, tokens, terms, text_hash, words, frequencies, windows
) FROM STDIN
