SELECT DISTINCT lower(f.function_name) AS function_name
FROM information_schema.functions AS f
WHERE f.function_schema <> 'INFORMATION_SCHEMA'
ORDER BY 1
