UPDATE nightshift.schema_snapshot SET status = 'complete', reason = ''
WHERE snapshot_id = %(snapshot_id)s AND status = 'held'
