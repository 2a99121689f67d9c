"""Rules that find groups by their labels."""

from collections.abc import Mapping

from nodewright.api import ConfigurationError, Problem


def parse_discovery(rule: str) -> Mapping[str, str]:
    """Return the labels that groups must have for a rule such as ``fake:team=web,tier=front``."""
    discoverer, _, pairs = rule.partition(":")
    labels = dict(pair.split("=", 1) for pair in pairs.split(",") if "=" in pair)
    if discoverer != "fake" or len(labels) != len(pairs.split(",")) or "" in labels:
        raise ConfigurationError(
            Problem(
                message=f"{rule!r}, of discovery or --node-group-auto-discovery, is no rule of the fake provider: "
                "write fake:label=value,label=value"
            )
        )
    return labels
