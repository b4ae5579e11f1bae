"""Measures the core: questions with known answers, systems that answer them, and rules that score; no model judges."""
