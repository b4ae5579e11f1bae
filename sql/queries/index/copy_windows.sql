COPY nightshift.chunk_window (version_no, chunk_no, ordinal, document_no, embedding) FROM STDIN
