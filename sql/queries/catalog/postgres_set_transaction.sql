SELECT
    set_config('statement_timeout', %(timeout)s, TRUE) AS statement_timeout,
    set_config('lock_timeout', %(timeout)s, TRUE) AS lock_timeout,
    set_config('timezone', %(timezone)s, TRUE) AS session_timezone,
    set_config('datestyle', 'ISO, YMD', TRUE) AS session_datestyle,
    set_config('cursor_tuple_fraction', '1.0', TRUE) AS planned_fraction
