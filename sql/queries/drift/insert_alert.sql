INSERT INTO nightshift.drift_alert (event_id, owner, channel, sent_at)
SELECT
    t.event_id,
    %(owner)s,
    %(channel)s,
    %(moment)s
FROM unnest(%(event_ids)s::bigint []) AS t (event_id)
