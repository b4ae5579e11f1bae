"""Retrieval measured beside others, and its speed."""
