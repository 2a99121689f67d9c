"""Isolation: a plugin in a process of its own, with deadlines, a limit of memory, and restarts.

In the core's process there is a stand-in (`stand_ins`, `provider`). It asks over a `channel` what a servant of the
plugin answers in the plugin's process (`child`, `servants`); `values` says what may pass. `process` starts, watches and
ends that process, by way of a small `supervisor` between the two.
"""

from nodewright.plugins.isolation.creation import create_isolated, in_child
from nodewright.plugins.isolation.process import Limits, ProcessError
from nodewright.plugins.isolation.provider import foresee

__all__ = ["Limits", "ProcessError", "create_isolated", "foresee", "in_child"]
