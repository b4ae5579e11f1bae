"""The sample company: a fictitious business built the same way every time from one seed number."""
