"""Providers that do one thing wrong each: for every test of the suite, one that fails it and nothing else."""

from . import (
    calls,
    deletion,
    facts,
    faults,
    growth,
    identity,
    instances,
    lateness,
    refreshing,
    targetless,
    templates,
    truth,
)
from .registry import BROKEN, MORE

THEMES = (
    calls,
    deletion,
    facts,
    faults,
    growth,
    identity,
    instances,
    lateness,
    refreshing,
    targetless,
    templates,
    truth,
)

__all__ = ["BROKEN", "MORE", "THEMES"]
