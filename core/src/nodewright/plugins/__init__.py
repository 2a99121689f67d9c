"""Plugins: which ones are installed, what else happens, and what becomes of those that fail.

`Registry` answers *which* (entry points, loaded by stevedore, one name at a time), `Hooks` *what else* (one pluggy
manager), and `Faults` keeps a plugin that fails from taking anything else with it.
"""

from nodewright.plugins.faults import Fault, Faults
from nodewright.plugins.hooks import Hooks, Veto
from nodewright.plugins.registry import PluginState, PluginStatus, Registry

__all__ = ["Fault", "Faults", "Hooks", "PluginState", "PluginStatus", "Registry", "Veto"]
