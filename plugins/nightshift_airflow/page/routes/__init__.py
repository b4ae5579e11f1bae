"""The page's routes, one module a subject."""
