-- The null signal takes one figure, the best cosine plus a share of the words covered: a limit and a weight.
ALTER TABLE nightshift.index_version RENAME COLUMN null_cosine TO null_threshold;
ALTER TABLE nightshift.index_version RENAME COLUMN null_coverage TO null_coverage_weight;
