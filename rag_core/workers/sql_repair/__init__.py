"""Mends a chat model's SQL by code: names, joins, types and grouping, held against the schema. Pure."""
