SELECT set_config('search_path', '', TRUE) AS session_path
