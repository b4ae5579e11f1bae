-- The row's lock lets one process after the other decide; the clock is read under it, so that no two count the same.
INSERT INTO nightshift.warehouse_turn AS w (warehouse, begun, taken, opens_in)
VALUES (%(warehouse)s, ARRAY[clock_timestamp()], TRUE, 0)
ON CONFLICT (warehouse) DO UPDATE
    SET (begun, taken, opens_in) = (
        SELECT
            CASE
                WHEN count(*) < %(per_minute)s
                    THEN array_append(array_agg(r.moment ORDER BY r.moment), clock_timestamp())
                ELSE array_agg(r.moment ORDER BY r.moment)
            END AS begun,
            count(*) < %(per_minute)s AS taken,
            CASE
                WHEN count(*) < %(per_minute)s THEN 0
                ELSE greatest(
                    0.001,
                    %(window_seconds)s - extract(
                        EPOCH FROM clock_timestamp()
                        - (array_agg(r.moment ORDER BY r.moment))[count(*) - %(per_minute)s + 1]
                    )
                )
            END AS opens_in
        FROM unnest(w.begun) AS r (moment) -- noqa: RF01
        WHERE r.moment > clock_timestamp() - make_interval(secs => %(window_seconds)s)
    )
RETURNING w.taken, w.opens_in
