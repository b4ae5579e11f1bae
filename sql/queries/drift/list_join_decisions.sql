SELECT
    left_side,
    right_side,
    verdict
FROM nightshift.join_decision
WHERE warehouse = %(warehouse)s
ORDER BY left_side, right_side
