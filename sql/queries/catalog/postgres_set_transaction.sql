SELECT
    set_config('statement_timeout', %(timeout)s, TRUE) AS statement_timeout,
    set_config('lock_timeout', %(timeout)s, TRUE) AS lock_timeout,
    set_config('timezone', %(timezone)s, TRUE) AS session_timezone,
    set_config('datestyle', 'ISO, YMD', TRUE) AS session_datestyle,
    set_config('standard_conforming_strings', 'on', TRUE) AS plain_backslashes,
    set_config('max_parallel_workers_per_gather', '0', TRUE) AS parallel_workers
