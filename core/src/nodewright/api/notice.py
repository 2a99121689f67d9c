"""Notices: what a strategy has to tell people besides its answer."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A remark about the configuration, or about how an answer was found."""

    #: In CamelCase, as reasons of Kubernetes events are.
    reason: str
    message: str
    #: The ConfigMap that it is about; empty: the autoscaler as such.
    config_map: str = ""
    #: Whether somebody should do something about it. Only such notices become events.
    warning: bool = True
