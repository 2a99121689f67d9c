"""Decisions in words, for views and logs of test worlds."""

from nodewright.explain.narrative import tell, tell_outcome

__all__ = ["tell", "tell_outcome"]
