SELECT
    before_object,
    after_object,
    verdict
FROM nightshift.rename_decision
WHERE warehouse = %(warehouse)s
ORDER BY decided_at, before_object, after_object
