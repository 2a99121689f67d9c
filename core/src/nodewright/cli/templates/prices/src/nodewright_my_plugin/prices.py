# EDIT: say in one line whose prices these are.
"""Prices of a contract: what we really pay, whatever the price list of the cloud says."""

from datetime import datetime

from nodewright.api import NodeTemplate, PluginConfig, Pod, Prices
from pydantic import Field

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
GIB = 1 << 30


class MyPluginConfig(PluginConfig):
    """What YAML may say under ``my-plugin``."""

    # EDIT: your settings, or where to read your prices. Names are in camelCase in YAML.
    currency: str = Field(default="USD", pattern="^[A-Z]{3}$", description="of all prices here, an ISO 4217 code")
    nodes: dict[str, float] = Field(description="what a node costs in an hour, by instance type")
    core: float = Field(default=0.03, ge=0, description="what a CPU costs in an hour")
    gib: float = Field(default=0.004, ge=0, description="what a GiB of memory costs in an hour")


class MyPlugin(Prices):
    """Prices of a contract, by instance type."""

    api_version = 1
    Config = MyPluginConfig
    config: MyPluginConfig

    def __init__(self, config: MyPluginConfig) -> None:
        super().__init__(config)
        self.currency = config.currency

    # EDIT: answer from what you know already, without calling anyone. A price that you don't know is None: the next
    # model in YAML is asked then, and the provider last.
    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Look up the instance type."""
        hourly = self.config.nodes.get(template.labels.get(INSTANCE_TYPE, ""))
        return None if hourly is None else hourly * hours(start, end)

    # EDIT: what the pod would cost on a machine that it fills. Only the expander `price` asks for it.
    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Add up what the pod requests."""
        cores, gib = pod.requests.get("cpu", 0) / 1000, pod.requests.get("memory", 0) / GIB
        return (cores * self.config.core + gib * self.config.gib) * hours(start, end)


def hours(start: datetime, end: datetime) -> float:
    """How long it is from start to end."""
    return (end - start).total_seconds() / 3600
