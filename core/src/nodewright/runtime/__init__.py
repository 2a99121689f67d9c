"""The shell round the decision: the loop, the clock, the providers, and the actor that carries decisions out."""

from nodewright.runtime.autoscaler import Autoscaler

__all__ = ["Autoscaler"]
