"""How quick the page is."""
