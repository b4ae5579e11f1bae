SET maintenance_work_mem = '512MB'
