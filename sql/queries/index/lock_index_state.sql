SELECT generation
FROM nightshift.index_state
FOR UPDATE
