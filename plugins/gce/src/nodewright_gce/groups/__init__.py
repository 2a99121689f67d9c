"""Managed instance groups as node groups: their facts for the core, and the orders it gives."""
