SELECT set_config('work_mem', '256MB', true) AS work_mem
