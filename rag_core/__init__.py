"""Nightshift's core: plans, answers and checks questions over a warehouse and a document index."""
