"""The shell round the decision: the loop, its clock, the providers, and the executor that carries decisions out."""

from nodewright.runtime.autoscaler import Autoscaler

__all__ = ["Autoscaler"]
