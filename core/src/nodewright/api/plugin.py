"""What every plugin class has in common."""

from abc import ABC
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from nodewright.objects.duration import parse_duration

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

#: The version of the contract between core and plugins. A plugin class states in ``api_version`` which one it was
#: written for; any other version is refused at load.
API_VERSION = 1


#: Keys that Nodewright reads itself where YAML has the settings of a plugin.
RESERVED_SETTINGS = frozenset({"isolation"})


class PluginConfig(BaseModel):
    """Base of the settings of a plugin: frozen, and an unknown key is a mistake.

    Fields are camelCase in YAML. Those of type `datetime.timedelta` are written like all durations: ``90s``, ``10m``.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        alias_generator=lambda name: name.split("_")[0] + "".join(part.title() for part in name.split("_")[1:]),
    )

    @field_validator("*", mode="before")
    @classmethod
    def _read_duration(cls, value: object, info: ValidationInfo) -> object:
        """Read durations as everywhere in the YAML: ``90s``, ``10m``, ``1h30m``."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, str) and timedelta in (annotation, *get_args(annotation)):
            with suppress(ValueError):
                return parse_duration(value)
        return value


class Plugin(ABC):  # noqa: B024  what is abstract depends on the kind of plugin
    """Base of everything that registers by entry point and is named in YAML.

    The core makes one instance for each time YAML names it, on the main thread, after *all* configuration has been
    checked; ``nodewright config check`` makes and closes one as well. So ``__init__`` asks nothing outside and starts
    nothing. If it raises, the plugin is left out and named with the reason; the loop starts without it, but for a
    provider, which is tried again. What may have kept nodes (a drain rule, a step of the candidates for removal, a
    plugin with `veto_scale_down` or `adjust_candidates`) keeps all of them while it is left out.
    """

    #: What users may write under the plugin's name in YAML.
    Config: ClassVar[type[PluginConfig]] = PluginConfig
    #: The version of the contract that this class was written for.
    api_version: ClassVar[int] = API_VERSION
    #: The annotations of pods that the plugin reads: keys, or what several begin with up to a slash, such as
    #: ``example.com/``. Pods that differ in one of them are in different sets, so that `PodSet.pod` speaks for all, and
    #: drain rules find them on pods that run. No others are sure to be there, but those that begin with
    #: ``nodewright.dev/`` and ``cluster-autoscaler.kubernetes.io/``. They are part of pictures of the cluster, so
    #: declare none with secrets in it. If users choose the key, set it in ``__init__`` from the plugin's settings.
    pod_annotations: frozenset[str] = frozenset()

    def __init__(self, config: PluginConfig) -> None:
        self.config = config

    def collectors(self) -> "Iterable[Collector]":
        """Metrics of the plugin's own, to be served beside the core's; nothing by default.

        Called once, when a configuration takes effect. Collectors that several instances share are served once. They
        are collected on any thread, at any time until `close`. Collectors that raise are left out, and so are metrics
        whose name the core or another plugin has. Begin names with ``nodewright_`` and the name of the plugin; metrics
        that Cluster Autoscaler has for the same cloud keep its names.
        """
        return ()

    def close(self) -> None:  # noqa: B027  most have nothing to let go of
        """Release threads and connections. Called once at the end, or when a new configuration replaces this one."""
