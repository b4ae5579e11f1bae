SELECT
    set_config('hnsw.ef_search', '120', true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true),
    set_config('hnsw.max_scan_tuples', '40000', true)
