INSERT INTO reports.dim_batch (batch, title, description, owner, audience, schedule)
VALUES (%(batch)s, %(title)s, %(description)s, %(owner)s, %(audience)s, %(schedule)s)
ON CONFLICT (batch) DO UPDATE SET
    title = excluded.title, description = excluded.description, owner = excluded.owner,
    audience = excluded.audience, schedule = excluded.schedule, updated_at = now();
