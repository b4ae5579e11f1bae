-- How many statements a model drew where its first one was doubtful, and whether most of them agreed.
ALTER TABLE nightshift.strategy_use
ADD COLUMN candidates integer NOT NULL DEFAULT 0,
ADD COLUMN candidates_helped boolean NOT NULL DEFAULT false;
