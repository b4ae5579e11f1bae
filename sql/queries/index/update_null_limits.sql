UPDATE nightshift.index_version
SET
    null_threshold = %(threshold)s,
    null_coverage_weight = %(weight)s,
    null_breadth_share = %(breadth)s,
    calibration = %(calibration)s
WHERE model_id = %(model_id)s
