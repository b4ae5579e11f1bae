COPY nightshift.posting (term_no, chunk_no, document_no, frequency, terms) FROM STDIN
