"""Benches of ingestion: ratios in one run, never timed tests."""
