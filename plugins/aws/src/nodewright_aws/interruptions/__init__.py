"""Instances that AWS is about to interrupt."""
