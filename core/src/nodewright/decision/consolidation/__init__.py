"""Nodes that are needed and give way to cheaper ones."""
