-- A document that only moved is made anew, because title, type and service may follow from its path; a run tells it apart
-- from one that is new or has changed.
ALTER TABLE nightshift.ingest_item ADD COLUMN moved boolean NOT NULL DEFAULT false;
