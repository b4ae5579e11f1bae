"""Joins and schema cards measured on real databases."""
