"""A plain, slow scheduler: one pod, one node and one rule at a time. The fast core has to agree with it."""

from .oracle import Oracle
from .snapshot import Refusal

__all__ = ["Oracle", "Refusal"]
