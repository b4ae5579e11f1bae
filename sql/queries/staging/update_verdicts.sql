UPDATE nightshift.staged_document
SET
    judged = true,
    fault_stage = %(stage)s,
    fault = verdict.fault
FROM unnest(%(staged)s::bigint[], %(faults)s::text[]) AS verdict (staged_no, fault)
WHERE staged_document.staged_no = verdict.staged_no
