"""Calls to Google Cloud."""
