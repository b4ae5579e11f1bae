SELECT
    state.generation,
    state.chunks,
    state.terms,
    version.version_no,
    version.model_id,
    version.model_setting,
    version.dimensions,
    coalesce(graph.indisvalid, FALSE) AS has_graph,
    version.null_threshold,
    version.null_coverage_weight,
    version.null_breadth_share
FROM nightshift.index_state AS state
LEFT JOIN nightshift.index_version AS version ON version.status = 'serving'
LEFT JOIN pg_index AS graph
    ON graph.indexrelid = to_regclass('nightshift.chunk_window_graph_' || version.version_no)
