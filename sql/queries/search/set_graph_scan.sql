SELECT
    set_config('hnsw.ef_search', '200', true) AS ef_search,
    set_config('hnsw.iterative_scan', 'relaxed_order', true) AS iterative_scan,
    set_config('hnsw.max_scan_tuples', '40000', true) AS max_scan_tuples
