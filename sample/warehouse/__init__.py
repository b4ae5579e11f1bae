"""The sample warehouse: its tables (``schema.sql``), the rows that tell the story, and the loader."""
