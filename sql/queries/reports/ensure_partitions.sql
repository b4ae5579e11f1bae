SELECT nightshift.ensure_report_partitions(%(run_date)s);
