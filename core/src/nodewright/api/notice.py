"""Notices: what a strategy reports to people besides its answer."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A remark about the configuration, or about how an answer was found."""

    #: In CamelCase, like the reasons of Kubernetes events.
    reason: str
    message: str
    #: The ConfigMap that it is about; empty if it is about the autoscaler itself.
    config_map: str = ""
    #: Whether someone should act on it. Only such notices become events.
    warning: bool = True
