"""The hooks of a configuration's plugins are called in its order."""

from nodewright.api import Decision, ProviderContext
from nodewright.config.model import Settings
from nodewright.config.reference import Reference
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.testing import EPOCH, SteppedClock

CODE = """
    from nodewright.api import Plugin, PluginConfig, Provider, hookimpl

    called = []

    class Config(PluginConfig):
        label: str = ""

    class Watcher(Plugin):
        Config = Config

        @hookimpl
        def on_decision(self):
            called.append(self.config.label)

    class Cloud(Provider):
        def refresh(self): pass
        def groups(self): return ()
        def group_of(self, node): return None

        @hookimpl
        def on_decision(self):
            called.append("cloud")

    class Single(Watcher):
        instance = None

        def __new__(cls, config):
            cls.instance = cls.instance or super().__new__(cls)
            return cls.instance
"""


def watcher(label: str, name: str = "watcher") -> Reference:
    return Reference(name=name, config={"label": label})


def test_plugins_are_called_as_the_configuration_names_them_and_providers_last(install) -> None:
    install("acme", {"hooks/watcher": "Watcher", "providers/cloud": "Cloud"}, CODE)
    settings = Settings(providers=(Reference(name="cloud"),), hooks=(watcher("one"), watcher("two"), watcher("three")))
    faults = Faults(SteppedClock())
    strategies = Strategies(Registry(), faults)
    hooks = strategies.policy(settings).hooks
    strategies.providers(settings, ProviderContext(clock=SteppedClock()))
    hooks.on_decision(Decision(at=EPOCH))
    assert __import__("acme").called == ["one", "two", "three", "cloud"]
    assert faults.counts == {}


def test_a_plugin_that_can_not_be_registered_is_left_out_alone(install) -> None:
    install("acme", {"hooks/watcher": "Watcher", "hooks/single": "Single"}, CODE)
    settings = Settings(hooks=(watcher("one", "single"), watcher("two", "single"), watcher("three")))
    faults = Faults(SteppedClock())
    Strategies(Registry(), faults).policy(settings).hooks.on_decision(Decision(at=EPOCH))
    assert __import__("acme").called == ["two", "three"]
    assert faults.counts == {("single", "load"): 1}
