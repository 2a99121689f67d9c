"""Whether the core can trust a provider in a process of its own as it trusts it in its own."""

import importlib.util
from pathlib import Path

import pytest
from nodewright.api import ProviderContext
from nodewright.plugins import Registry
from nodewright.testing import SteppedClock
from nodewright.testing.conformance import Ability
from nodewright.testing.conformance.provider import CrashConformance, RefreshFaultConformance

SHED = Path(__file__).parents[2] / "examples/shed/tests/test_shed.py"


@pytest.fixture(scope="session")
def shed():
    spec = importlib.util.spec_from_file_location("shed_for_isolation", SHED)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Isolated(module.Shed):
        """The shed, whose provider runs in a process of its own: nobody here sees how often that reads."""

        abilities = module.Shed.abilities - {Ability.COUNT}

        def provider(self):
            context = ProviderContext(clock=SteppedClock())
            return Registry().create_apart("providers", "shed", {"inventory": str(self.file)}, context)

    return Isolated


class TestIsolatedShed(RefreshFaultConformance, CrashConformance):
    """What a process between the core and the provider could spoil."""

    @pytest.fixture
    def cloud(self, shed, tmp_path):
        return shed(tmp_path)
