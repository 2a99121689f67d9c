"""Providers that do one thing wrong each: for every test of the suite, one that fails it and nothing else."""

from . import (
    calls,
    deletion,
    facts,
    faults,
    growth,
    identity,
    instances,
    interventions,
    lateness,
    refreshing,
    shortages,
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
    interventions,
    lateness,
    refreshing,
    shortages,
    targetless,
    templates,
    truth,
)

__all__ = ["BROKEN", "MORE", "THEMES"]
