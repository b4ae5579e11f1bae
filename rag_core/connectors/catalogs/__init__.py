"""Readers of the databases' catalogs, one a database."""
