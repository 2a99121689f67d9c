"""Providers that do one thing wrong each: for every test of the suite, one that fails it and nothing else."""

from . import calls, deletion, facts, faults, growth, identity, instances, lateness, refreshing, templates
from .registry import BROKEN

THEMES = (calls, deletion, facts, faults, growth, identity, instances, lateness, refreshing, templates)

__all__ = ["BROKEN", "THEMES"]
