UPDATE nightshift.index_state
SET
    generation = generation + 1,
    chunks = chunks + %(chunks)s,
    terms = terms + %(terms)s
