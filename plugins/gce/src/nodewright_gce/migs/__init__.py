"""Managed instance groups as Google describes them: which are used, and their machines in all states."""
