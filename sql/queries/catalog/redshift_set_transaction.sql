SELECT
    set_config('statement_timeout', %(timeout)s, TRUE) AS statement_timeout,
    set_config('timezone', %(timezone)s, TRUE) AS session_timezone
