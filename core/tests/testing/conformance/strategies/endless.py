"""The suite of hooks, run on a plugin that waits for ever."""

from threading import Event

import pytest
from nodewright.api import Plugin, PluginConfig, hookimpl
from nodewright.testing.conformance import HookConformance


class Endless(Plugin):
    @hookimpl
    def adjust_options(self, options):
        Event().wait()


class TestEndless(HookConformance):
    longest = 0.2

    @pytest.fixture
    def plugin(self):
        return Endless(PluginConfig())
