SELECT DISTINCT lower(r.routine_name) AS function_name
FROM dataset_name.INFORMATION_SCHEMA.ROUTINES AS r
ORDER BY function_name
