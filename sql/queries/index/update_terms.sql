UPDATE nightshift.term
SET chunks = term.chunks + change.chunks
FROM unnest(%(terms)s::integer[], %(changes)s::integer[]) AS change (term_no, chunks)
WHERE term.term_no = change.term_no
