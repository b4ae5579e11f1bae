SELECT
    state.generation,
    version.version_no,
    (
        SELECT kept.outcome
        FROM nightshift.kept_search AS kept
        WHERE
            kept.step_hash = %(step_hash)s -- noqa: RF02
            AND kept.generation = state.generation
            AND kept.version_no = version.version_no
    ) AS outcome
FROM nightshift.index_state AS state
INNER JOIN nightshift.index_version AS version ON version.status = 'serving'
