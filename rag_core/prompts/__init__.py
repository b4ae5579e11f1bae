"""Prompts: Markdown files, and the strict loader that hashes them."""
