VACUUM (ANALYZE) nightshift.posting_block
