SELECT dropped FROM nightshift.drop_report_partitions(%(before)s) AS dropped;
