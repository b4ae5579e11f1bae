"""Measurements of schema drift."""
