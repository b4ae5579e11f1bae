"""Measurements of batches and reports."""
