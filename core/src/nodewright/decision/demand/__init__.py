"""Demand: which pods need nodes that are not there."""
