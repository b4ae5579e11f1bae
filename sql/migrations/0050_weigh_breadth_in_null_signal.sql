-- How much of the null signal's cosine is the mean of the twenty nearest chunks and not the nearest alone; NULL: none.
ALTER TABLE nightshift.index_version ADD COLUMN null_breadth_share real;
