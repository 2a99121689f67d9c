"""Decisions in words, for views and logs of test worlds."""

from nodewright.explain.narrative import describe_actions, describe_failure

__all__ = ["describe_actions", "describe_failure"]
