SELECT set_config('role', %(principal)s, TRUE) AS principal
