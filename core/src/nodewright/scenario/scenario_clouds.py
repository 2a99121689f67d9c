"""What clouds say in a scenario besides their groups: GPUs, prices, limits, and labels that tell nothing."""

from collections.abc import Mapping
from typing import Any

from nodewright.api.provider import GpuConfig, ResourceLimits
from nodewright.objects import Resources, parse_resources
from nodewright.scenario.prices import ListedPrices
from nodewright.scenario.scenario_objects import (
    read_list,
    read_mapping,
    read_object,
    refuse_unknown,
    require_mapping,
    wrong,
)

_GPU_KEYS = ("label", "type", "resource", "draDriver")


def read_gpus(document: Mapping[str, Any]) -> dict[str, GpuConfig]:
    """Return what GPUs nodes have, by their names, as ``gpus`` says."""
    return {node: _read_gpu(entry, f"gpus.{node}") for node, entry in read_mapping(document, "gpus").items()}


def read_group_gpus(document: Mapping[str, Any]) -> dict[str, GpuConfig]:
    """Return what GPUs new nodes of groups have, by the groups' ids, as ``nodeGroups`` says; these were read before."""
    return {
        entry["id"]: _read_gpu(entry["gpu"], f"nodeGroups[{index}] ({entry['id']}).gpu")
        for index, entry in enumerate(read_list(document, "nodeGroups"))
        if entry.get("gpu") is not None
    }


def read_resource_limits(document: Mapping[str, Any]) -> dict[str, ResourceLimits]:
    """Return the limits that providers set, by provider, as ``resourceLimits`` says."""
    limits = {}
    for provider, entry in read_mapping(document, "resourceLimits").items():
        place = f"resourceLimits.{provider}"
        require_mapping(entry, place)
        refuse_unknown(entry, ("minimum", "maximum"), f"{place}.")
        limits[provider] = ResourceLimits(
            minimum=_read_amounts(entry, "minimum", place), maximum=_read_amounts(entry, "maximum", place)
        )
    return limits


def read_ignored_labels(document: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the labels that may differ between groups that are alike, as ``balancingIgnoredLabels`` says."""
    return {
        provider: read_object(keys, frozenset[str], f"balancingIgnoredLabels.{provider}")
        for provider, keys in read_mapping(document, "balancingIgnoredLabels").items()
    }


def read_pricing(document: Mapping[str, Any]) -> dict[str, ListedPrices]:
    """Return the prices by provider, as ``pricing`` says."""
    pricing = {}
    for provider, entry in read_mapping(document, "pricing").items():
        place = f"pricing.{provider}"
        require_mapping(entry, place)
        refuse_unknown(entry, ("currency", "pods"), f"{place}.")
        pods = []
        for index, listed in enumerate(read_list(entry, "pods")):
            here = f"{place}.pods[{index}]"
            require_mapping(listed, here)
            refuse_unknown(listed, ("requests", "hourlyPrice"), f"{here}.")
            price = read_object(listed.get("hourlyPrice"), float, f"{here}.hourlyPrice")
            pods.append((_read_amounts(listed, "requests", here), price))
        currency = read_object(entry.get("currency", "USD"), str, f"{place}.currency")
        pricing[provider] = ListedPrices(currency=currency, pods=pods)
    return pricing


def _read_gpu(entry: Any, place: str) -> GpuConfig:
    require_mapping(entry, place)
    refuse_unknown(entry, _GPU_KEYS, f"{place}.")
    label, type_, resource, driver = (read_object(entry.get(key, ""), str, f"{place}.{key}") for key in _GPU_KEYS)
    return GpuConfig(label=label, type=type_, resource=resource, dra_driver=driver)


def _read_amounts(entry: Mapping[str, Any], key: str, place: str) -> Resources:
    quantities = read_object(entry.get(key, {}), dict[str, str | int | float], f"{place}.{key}")
    try:
        return parse_resources(quantities)
    except ValueError as error:
        raise wrong(f"{place}.{key}", str(error)) from None
