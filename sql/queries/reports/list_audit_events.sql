SELECT event_id, happened_at, actor, action, object, detail, previous_hash, hash
FROM reports.audit_event
ORDER BY event_id;
