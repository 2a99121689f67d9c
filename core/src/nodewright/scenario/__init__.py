"""Scenarios: a cluster in a file, read into worlds and written from them, and decided about."""
