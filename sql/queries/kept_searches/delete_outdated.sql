DELETE FROM nightshift.kept_search
WHERE generation < (SELECT max(index_state.generation) FROM nightshift.index_state)
