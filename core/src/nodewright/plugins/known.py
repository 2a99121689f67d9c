"""What `nodewright plugins` shows: every implementation that is registered, and how it is."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How an implementation is."""

    #: It can be loaded.
    READY = "ready"
    #: It can be loaded, and the configuration names it.
    IN_USE = "in use"
    #: It can't be loaded, or not with the configuration given.
    FAILED = "failed"
    #: It was written for another version of the contract.
    INCOMPATIBLE = "incompatible"
    #: The configuration names it, and no distribution registers it.
    MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class Known:
    """One implementation that a distribution registers, or that a configuration asks for in vain."""

    kind: str
    name: str
    #: Empty, and so is the version, if it is missing.
    distribution: str
    version: str
    state: State
    #: What is wrong and what to do, where it is neither ready nor in use.
    reason: str = ""
    #: What it is, in its own words; empty where it can't be loaded.
    description: str = ""
