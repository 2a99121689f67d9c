"""A provider of the double's project, and its groups."""

import pytest
from nodewright.api import ProviderContext
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.provider import GceProvider


class MovingClock:
    """The clock of a double, which is moved by whoever waits."""

    def __init__(self, clock):
        self.now = clock.now
        self._advance = clock.advance

    def wait(self, event, timeout):
        self._advance(timeout)
        return event.is_set()


@pytest.fixture
def start(double):
    """Make a provider of all groups of zone b and their limits, and refresh it."""
    made = []

    def start(*, refresh=True, least=0, most=100, context=None, **settings):
        found = {"discover": [{"namePrefix": "w", "min": least, "max": most}], "zones": ["europe-west1-b"]} | settings
        config = GceConfig.model_validate(double.config(**found, instancesMinRefreshWait="0s"))
        provider = GceProvider(config, ProviderContext(clock=MovingClock(double.clock), **(context or {})))
        made.append(provider)
        if refresh:
            provider.refresh()
        return provider

    yield start
    for provider in made:
        provider.close()


@pytest.fixture
def workers(double, start):
    """Make the group of three machines, or as it is asked for, and return it with nothing counted."""

    def workers(*, least=0, most=100, size=3, name="workers", **fields):
        double.make_mig(name, size=size, **fields)
        (group,) = start(least=least, most=most).groups()
        double.calls.clear()
        return group

    return workers
