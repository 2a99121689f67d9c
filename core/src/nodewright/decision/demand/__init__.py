"""Demand: which pods want nodes that are not there."""
