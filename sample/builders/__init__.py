"""Writers for the sample documents: one module a format, all fed by `blocks`."""
