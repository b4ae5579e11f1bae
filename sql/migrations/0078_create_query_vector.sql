-- Vectors of questions, so that a standing question is embedded once and its replay loads no embedding model.
CREATE TABLE nightshift.query_vector (
    model_id text NOT NULL,
    text_hash bytea NOT NULL,
    embedding real [] NOT NULL,
    used_on date NOT NULL DEFAULT current_date,
    PRIMARY KEY (model_id, text_hash)
);
