SELECT {columns}
FROM {table}
WHERE {of_run};
