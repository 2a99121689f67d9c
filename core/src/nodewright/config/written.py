"""Settings as YAML: only what differs from the defaults."""

from typing import Any

import yaml

from nodewright.config.flags import Flags
from nodewright.config.model import Settings
from nodewright.config.tree import Dumper


def to_yaml(settings: Settings) -> str:
    """Return the shortest file that loads as *settings*."""
    header = {"apiVersion": settings.api_version, "kind": settings.kind}
    return dump(header | settings.model_dump(mode="json", by_alias=True, exclude_defaults=True))


def dump(data: Any, *, flow: bool = False) -> str:
    """Return plain *data* as YAML that `nodewright.config.tree.read_yaml` reads back as the same."""
    text: str = yaml.dump(
        data, Dumper=Dumper, sort_keys=False, default_flow_style=flow, allow_unicode=True, width=float("inf")
    )
    return text


def flags_to_yaml(flags: Flags, settings: Settings, warnings: list[str]) -> str:
    """Return the file that does what *flags* do, with comments about those that it leaves out."""
    without = [f"--{each.flag.name}: {each.flag.instead}" for each in flags.given if each.flag.instead]
    notes = [*(f"left out {line}" for line in without), *warnings]
    if not settings.providers:
        notes.append("no --cloud-provider was given: name the provider under providers")
    return "".join(f"# {note}\n" for note in notes) + to_yaml(settings)
