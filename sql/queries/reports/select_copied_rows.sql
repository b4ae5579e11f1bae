SELECT {wanted}
FROM {table}
WHERE {of_run};
