"""Decisions in words: why, for whom, and since when."""
