-- Ranking needs the document and the place of hundreds of chunks for each search, and not their texts: read from here,
-- the wide rows stay where they are.
CREATE INDEX chunk_place_idx ON nightshift.chunk (chunk_no) INCLUDE (document_no, ordinal);
