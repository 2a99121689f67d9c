"""Decisions in words, and on record."""
