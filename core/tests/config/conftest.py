from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from nodewright.api import (
    Expander,
    NodeGroup,
    PendingPodsProcessor,
    Plugin,
    PluginConfig,
    PluginError,
    Provider,
    ScaleDownCandidatesProcessor,
)
from nodewright.plugins import Registry
from pydantic import Field


class PerZone(PluginConfig):
    zone: str
    weight: int = Field(default=1, ge=1, le=10)


class Cloud(Provider):
    """A cloud for tests."""

    class Config(PluginConfig):
        region: str
        discover_by: dict[str, str | None] = Field(default_factory=dict)
        zones: tuple[PerZone, ...] = ()
        bulk: bool = False

    def refresh(self) -> None:
        pass

    def groups(self) -> Sequence[NodeGroup]:
        return ()

    def group_of(self, node: object) -> str | None:
        return None


class LeastWaste(Expander):
    """Wastes least."""

    def best(self, options, context):
        return options


class Chance(LeastWaste):
    """Throws dice."""


class Grpc(LeastWaste):
    """Asks outside."""

    class Config(PluginConfig):
        url: str = ""
        certificate: str = ""


class Quota(PendingPodsProcessor):
    """Keeps teams in their bounds."""

    def process(self, pods, context):
        return pods


class KeepNew(ScaleDownCandidatesProcessor):
    """Keeps new nodes."""

    def process(self, nodes, context):
        return nodes


class Old(LeastWaste):
    """Was written long ago."""


class Touchy(LeastWaste):
    """Can't even be asked."""

    class Config(PluginConfig):
        def model_post_init(self, context: object) -> None:
            raise RuntimeError("no network here")


class Classes:
    """Plugin classes as the registry has them, made up for tests."""

    installed: ClassVar[dict[str, dict[str, type[Plugin]]]] = {
        "providers": {"cloud": Cloud},
        "expanders": {"least-waste": LeastWaste, "random": Chance, "grpc": Grpc, "old": Old, "touchy": Touchy},
        "estimators": {},
        "processors": {"quota": Quota, "keep-new": KeepNew},
        "drain_rules": {},
        "prices": {},
        "hooks": {},
    }

    def names(self, kind: str) -> Sequence[str]:
        return sorted(self.installed[kind])

    def load(self, kind: str, name: str) -> type[Plugin]:
        found = self.installed[kind].get(name)
        if found is None:
            raise PluginError(name, f"none of the {kind} is called {name}")
        if found is Old:
            raise PluginError(name, f"{name} was written for contract version 0")
        return found

    def create(self, kind: str, name: str, config: Mapping[str, object], *extra: object) -> Plugin:
        if name not in self.installed[kind]:
            return Registry().create(kind, name, config, *extra)
        plugin = self.load(kind, name)
        try:
            return plugin(plugin.Config.model_validate(dict(config)), *extra)
        except Exception as error:
            raise PluginError(name, f"{name} can't be started: {error}") from error


@pytest.fixture
def classes() -> Classes:
    return Classes()


@pytest.fixture
def write(tmp_path: Path):
    """Write a configuration file with the header that every one has; return its path."""

    def write(text: str, name: str = "nodewright.yaml") -> Path:
        path = tmp_path / name
        path.write_text(f"apiVersion: nodewright.dev/v1\nkind: Autoscaler\n{text}")
        return path

    return write
