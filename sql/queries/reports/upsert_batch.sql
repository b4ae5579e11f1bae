INSERT INTO reports.dim_batch (batch, title, description, owner, audience, schedule, timezone)
VALUES (%(batch)s, %(title)s, %(description)s, %(owner)s, %(audience)s, %(schedule)s, %(timezone)s)
ON CONFLICT (batch) DO UPDATE SET
    title = excluded.title, description = excluded.description, owner = excluded.owner,
    audience = excluded.audience, schedule = excluded.schedule, timezone = excluded.timezone, updated_at = now();
